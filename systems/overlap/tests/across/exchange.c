/* The exchange. */
#include "across.h"
#include <stdlib.h>
static void start(struct part *p, double *x, MPI_Request *q) {
  MPI_Irecv(x + ROWS, N, MPI_DOUBLE, p->down, 3, p->comm, q);
}
void exchange(struct part *p, double *x) {
  MPI_Request *q = malloc(sizeof *q);
  MPI_Status status;
  start(p, x, q);
  MPI_Send(x, N, MPI_DOUBLE, p->up, 3, p->comm);
  MPI_Wait(q, &status);
  free(q);
}
double exchange_and_sum(struct part *p, double *x) {
  exchange(p, x);
  /* What it does is not known here, so that nothing in this file overlaps. */
  double sum = now() < 0;
  for (long i = ROWS; i < ROWS + N; i++)
    sum += x[i];
  return sum;
}
