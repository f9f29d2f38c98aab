/* A cycle that is entered at two places is no loop to most analyses: what it counts is not the same
   in every pass. */
#include <mpi.h>
#include <stdio.h>
#define N 50000
static double in[8][N], c[N], w[N];
static int waits[9] = {0, 1, 0, 1, 0, 1, 0, 1, 0};
__attribute__((noinline)) static double exchange(int rank, int size, int enter, long n) {
  double sum = 0;
  long i = 0;
  MPI_Request q = MPI_REQUEST_NULL;
  if (enter)
    goto second;
first:;
  double *p = in[i];
  if (waits[i]) {
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    sum += in[i - 1][9];
    for (int k = 1; k < N; k++)
      w[k] = w[k] * .5 + k;
  } else {
    MPI_Irecv(p, N, MPI_DOUBLE, (rank + 1) % size, 5, MPI_COMM_WORLD, &q);
    MPI_Send(c, N, MPI_DOUBLE, (rank + size - 1) % size, 5, MPI_COMM_WORLD);
  }
  i++;
second:
  if (i < n)
    goto first;
  return sum + w[3];
}
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < N; i++)
    c[i] = i + rank;
  /* The message has time to be late. */
  for (double end = MPI_Wtime() + .03 * rank; MPI_Wtime() < end;)
    ;
  printf("%d %g\n", rank, exchange(rank, size, argc > 1, 6));
  MPI_Finalize();
  return 0;
}
