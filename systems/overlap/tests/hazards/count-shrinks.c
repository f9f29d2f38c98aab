// The message that is pending when the next pass begins has the count of its own pass.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) void run(double *restrict b, double *restrict x, double *restrict y, int n, int c) {
  do {
    for (int i = 0; i < n; i++) x[i] += b[i] * 0.5;
    MPI_Recv(b, c, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i < n; i++) y[i] = y[i - 1] * 0.5 + x[i];
    c -= n / 2;
  } while (c > 0);
}
int main(int argc, char **argv) {
  int rank, n = 200000; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *b = calloc(n, 8), *x = calloc(n, 8), *y = calloc(n, 8), s = 0;
  if (rank == 0) {
    for (int i = 0; i < n; i++) b[i] = 1;
    usleep(300000);
    MPI_Send(b, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    MPI_Send(b, n / 2, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
  } else {
    run(b, x, y, n, n);
    for (int i = 0; i < n; i++) s += x[i];
    printf("%.2f\n", s);
  }
  MPI_Finalize();
}
