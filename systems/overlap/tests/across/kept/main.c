/* Who calls each of them, and the sums of what comes out. */
#include "kept.h"
#include <stdio.h>
#include <stdlib.h>
__attribute__((weak)) void weak_exchange(struct part *p, double *x) {
  MPI_Request q;
  MPI_Irecv(x + ROWS, N, MPI_DOUBLE, p->down, 5, MPI_COMM_WORLD, &q);
  MPI_Send(x + 9, N, MPI_DOUBLE, p->up, 5, MPI_COMM_WORLD);
  MPI_Wait(&q, MPI_STATUS_IGNORE);
}
__attribute__((weak)) void weak_product(const struct part *p, const double *x, double *y) {
  for (long i = 0; i < ROWS; i++)
    y[i] = x[p->columns[2 * i + 1]];
}
void call_taken(struct part *p, double *x, double *y);
static void say(const char *what, const double *x, int rank) {
  double sum = 0;
  for (long i = 0; i < ROWS + N; i++)
    sum += x[i] * (double)(1 + i % 13);
  printf("%d: %s %.17g\n", rank, what, sum);
}
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  struct part p = {(rank + 1) % size, (rank + size - 1) % size, NULL, NULL};
  int *columns = malloc(2 * ROWS * sizeof *columns);
  double *x = calloc(ROWS + N, sizeof *x), *y = calloc(ROWS + N, sizeof *y);
  for (long i = 0; i < ROWS; i++) {
    x[i] = (double)((i * 7 + rank) % 11);
    columns[2 * i] = (int)i;
    columns[2 * i + 1] = (int)(i % 50 ? (i * 31) % ROWS : ROWS + (i * 3) % N);
  }
  p.columns = columns;
  send_room(&p, x);
  product(&p, x, y);
  say("room", y, rank);
  send_told(&p, y);
  product(&p, y, x);
  say("told", x, rank);
  weak_exchange(&p, x);
  product(&p, x, y);
  say("weak exchange", y, rank);
  wrapped(&p, y);
  product(&p, y, x);
  say("wrapped", x, rank);
  call_taken(&p, x, y);
  say("taken", y, rank);
  exchange(&p, y);
  product_of_copy(&p, *(struct cells *)y, x);
  say("copy", x, rank);
  exchange(&p, x);
  weak_product(&p, x, y);
  say("weak product", y, rank);
  if (rank == 0)
    printf("sent %d\n", sent());
  MPI_Finalize();
  return 0;
}
