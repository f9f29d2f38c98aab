// One rank alone asks for the size, so a condition on it is not the same everywhere.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, n = 100000 + argc, size0 = 0;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *a = calloc(n, 8), *b = calloc(n, 8), *x = calloc(n, 8), s;
  if (rank == 0) MPI_Comm_size(MPI_COMM_WORLD, &size0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (size0) {
    MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 1; i < n; i++) x[i] = x[i - 1] * 0.5 + i;
    s = a[0] + x[n - 1];
  } else {
    MPI_Bcast(b, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    s = b[0];
  }
  printf("%d %f\n", rank, s);
  MPI_Finalize();
}
