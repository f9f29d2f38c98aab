/* Who calls both. What it prints is the same whatever is pending meanwhile. */
#include "across.h"
#include <stdio.h>
#include <stdlib.h>
static double total(const double *x) {
  double all = 0;
  for (long i = 0; i < ROWS + N; i++)
    all += x[i] * (double)(1 + i % 13);
  return all;
}
int main(int argc, char **argv) {
  struct part p;
  int rank, size, code = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  p.up = (rank + 1) % size;
  p.down = (rank + size - 1) % size;
  p.comm = MPI_COMM_WORLD;
  int *columns = malloc(3 * ROWS * sizeof *columns);
  double *x = calloc(ROWS + N, sizeof *x), *y = calloc(ROWS + N, sizeof *y);
  for (long i = 0; i < ROWS; i++) {
    x[i] = (double)((i * 7 + rank) % 11);
    columns[3 * i] = (int)i;
    columns[3 * i + 1] = (int)((i * 31) % ROWS);
    columns[3 * i + 2] = (int)(i % 50 == 0 ? ROWS + i % N : (i + 1) % ROWS);
  }
  p.columns = columns;
  double seconds = 0, seen = 0;
  for (int step = 0; step < 3 + argc; step++) {
    double at = now();
    exchange(&p, x);
    seconds += now() - at;
    code += product(&p, x, y);
    /* Something between. */
    exchange(&p, y);
    seen += look(y);
    code += product(&p, y, x);
    exchange(&p, x);
    change(x);
    code += product(&p, x, y);
    exchange(&p, y);
    seen += y[ROWS + 3];
    y[2] -= 1;
    code += product(&p, y, x);
    seen += exchange_and_sum(&p, x);
    code += product(&p, x, y);
    /* Two in a row, the first of which is overwritten. */
    exchange(&p, y);
    exchange(&p, y);
    product(&p, y, x);
    /* The product writes what was received, and what is sent. */
    exchange(&p, x);
    code += product(&p, y, x);
  }
  double all = total(x) + total(y), sum = 0;
  MPI_Reduce(&all, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  printf("%d: %d %.17g %.17g %d\n", rank, code, seen, all, seconds >= 0);
  if (rank == 0)
    printf("sum %.17g\nsent %s\n", sum, sent() ? "nonblocking" : "blocking");
  MPI_Finalize();
  return 0;
}
