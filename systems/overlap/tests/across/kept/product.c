/* Products. */
#include "kept.h"
static double row(const int *columns, const double *x) {
  return (x[columns[0]] + 2 * x[columns[1]]) / 3;
}
void product(const struct part *p, const double *x, double *y) {
  for (long i = 0; i < ROWS; i++)
    y[i] = row(p->columns + 2 * i, x);
  /* Writes where variables of an exchange were. */
  volatile double room[2 * N];
  for (long i = 0; i < 2 * N; i++)
    room[i] = -1;
}
void product_of_copy(const struct part *p, struct cells x, double *y) {
  for (long i = 0; i < ROWS; i++)
    y[i] = row(p->columns + 2 * i, x.at);
}
