// A wildcard that goes to another file as a long.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
void from(long source, int *got);
#ifdef SECOND_FILE
__attribute__((noinline)) void from(long source, int *got) { MPI_Recv(got, 1, MPI_INT, source, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
#else
int main(int argc, char **argv) {
  int rank, n = 100000, m = argc > 0 ? 1 : 0, w = 1, v = 2, got[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *big = calloc(n, 8), *x = calloc(n, 8), s = 0;
  if (rank == 0) {
    for (int k = 0; k < 2; k++)
      from(MPI_ANY_SOURCE, &got[k]);
    printf("%d%d\n", got[0], got[1]);
  } else if (rank == 1) {
    MPI_Recv(big, n, MPI_DOUBLE, 2, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&w, m, MPI_INT, 0, 5, MPI_COMM_WORLD);
    for (int i = 1; i < n; i++)
      x[i] = x[i - 1] * 0.5 + i;
    for (int i = 0; i < n; i++)
      s += big[i] + x[i];
    printf("%f\n", s);
  } else {
    usleep(300000);
    MPI_Send(&v, m, MPI_INT, 0, 5, MPI_COMM_WORLD);
    MPI_Send(big, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
#endif
