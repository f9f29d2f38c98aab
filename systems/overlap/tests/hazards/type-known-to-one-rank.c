// Ranks describe the same numbers by different types: what one of them may start another must call.
#include <mpi.h>
#include <stdio.h>
enum { N = 40000 };
static double a[N], x[N];
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Datatype pair, type = MPI_DOUBLE;
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  if (rank)
    type = pair;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < N; i++)
      a[i] = rank ? 0 : i + round;
    MPI_Bcast(a, rank ? N / 2 : N, type, 0, MPI_COMM_WORLD);
    for (int k = 0; k < 100; k++)
      for (int i = 1; i < N; i++)
        x[i] = 0.5 * x[i] + 0.25 * x[i - 1] + 1;
    printf("%d %f %f\n", round, a[N - 1], x[N - 1]);
  }
  MPI_Finalize();
}
