// lgamma writes a global.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, n = 100000; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *buf = malloc(n * 8), *x = calloc(5000, 8);
  if (rank == 0) {
    for (int i = 0; i < n; i++) buf[i] = -0.5;
    MPI_Send(buf, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(buf, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double l = lgamma(buf[0]);
    int s = signgam;
    for (int i = 1; i < 5000; i++) x[i] = x[i - 1] * 0.5 + i;
    printf("%f %d %f\n", l, s, x[4999]);
  }
  MPI_Finalize();
}
