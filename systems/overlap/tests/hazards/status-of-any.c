/* MPI_Waitany ends one of several messages, and writes one status: what is read of it comes behind. */
#include <mpi.h>
#include <stdio.h>
#define N 50000
static double a[N], c[N], w[N];
static MPI_Request global[2];
__attribute__((noinline)) static int any(MPI_Request *q, int from, int to) {
  MPI_Status status;
  int nth = -1;
  status.MPI_TAG = -7;
  q[0] = MPI_REQUEST_NULL;
  MPI_Irecv(a, N, MPI_DOUBLE, from, 5, MPI_COMM_WORLD, &q[1]);
  MPI_Send(c, N, MPI_DOUBLE, to, 5, MPI_COMM_WORLD);
  MPI_Waitany(2, q, &nth, &status);
  int tag = status.MPI_TAG;
  for (int k = 1; k < N; k++)
    w[k] = w[k] * .5 + k * tag;
  return tag * 10 + nth;
}
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int from = (rank + 1) % size, to = (rank + size - 1) % size;
  MPI_Request q[2];
  for (int i = 0; i < N; i++)
    c[i] = i + rank;
  int first = any(q, from, to), second = any(global, from, to);
  printf("%d %d %d %g %g\n", rank, first, second, w[3], a[3]);
  MPI_Finalize();
  return 0;
}
