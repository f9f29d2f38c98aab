/* The work behind it, and others who look at what it works on. */
#include "across.h"
double now(void) { return MPI_Wtime(); }
int product(const struct part *p, const double *x, double *y) {
  const int *columns = p->columns;
  for (long i = 0; i < ROWS; i++) {
    double sum = 0;
    for (int k = 0; k < 3; k++)
      sum += (k + 1) * x[columns[3 * i + k]];
    y[i] = sum / 6;
  }
  return p->up;
}
double look(const double *x) { return x[ROWS] + x[ROWS + N - 1]; }
void change(double *x) {
  x[ROWS + 5] = -x[ROWS + 5];
  x[7] += 1;
}
