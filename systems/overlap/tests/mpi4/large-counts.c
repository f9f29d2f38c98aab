// One procedure by two names: rank 0 comes to the plain one first, rank 1 to the one with large
// counts, and they match.
#include <mpi.h>
#include <stdio.h>
enum { N = 300000 };
static double a[N], b[N], w[N];
static void large(void) {
#if MPI_VERSION >= 4
  MPI_Allreduce_c(a, b, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#else
  MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#endif
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < N; i++)
    a[i] = i + rank;
  if (rank == 1)
    large();
  MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++)
    w[i] = w[i] * 0.5 + i;
  double sum = b[3] + w[3];
  if (rank == 0)
    large();
  printf("%d %g\n", rank, sum + b[4]);
  MPI_Finalize();
}
