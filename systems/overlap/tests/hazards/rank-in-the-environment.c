// Launchers put the rank into the environment.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, n = 100000 + argc; const char *e = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *a = calloc(n, 8), *b = calloc(n, 8), *x = calloc(n, 8), s;
  int size0 = atoi(e) == 0;
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
