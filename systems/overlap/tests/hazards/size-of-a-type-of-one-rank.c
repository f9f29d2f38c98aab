// A type has another length on each rank, so a condition on its size is not the same everywhere.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, size, n = 100000 + argc;
  MPI_Datatype block;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_contiguous(rank + 1, MPI_DOUBLE, &block);
  MPI_Type_commit(&block);
  MPI_Type_size(block, &size);
  double *a = calloc(n, 8), *b = calloc(n, 8), *x = calloc(n, 8), s;
  MPI_Barrier(MPI_COMM_WORLD);
  if (size == 8) {
    MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 1; i < n; i++)
      x[i] = x[i - 1] * 0.5 + i;
    s = a[0] + x[n - 1];
  } else {
    MPI_Bcast(b, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    s = b[0];
  }
  printf("%d %f\n", rank, s);
  MPI_Finalize();
}
