// A wait for fewer requests than were started leaves the last pending: another one ends it.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { N = 200000 };
__attribute__((noinline)) double run(double *a, double *b, double *restrict x, double *restrict y, int all) {
  MPI_Request q[4];
  int n = 0;
  MPI_Irecv(a, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &q[n++]);
  if (all > 1) MPI_Irecv(b, N, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &q[n++]);
  MPI_Waitall(1, q, MPI_STATUSES_IGNORE);
  for (int i = 0; i < N; i++) x[i] += a[i];
  MPI_Waitall(n - 1, q + 1, MPI_STATUSES_IGNORE);
  for (int i = 0; i < N; i++) y[i] += b[i];
  double s = 0;
  for (int i = 0; i < N; i++) s += x[i] + 3 * y[i];
  return s;
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *a = calloc(N, 8), *b = calloc(N, 8), *x = calloc(N, 8), *y = calloc(N, 8);
  for (int all = 1; all < 3; all++)
    if (rank == 0) {
      for (int i = 0; i < N; i++) a[i] = all + i % 3;
      usleep(100000);
      MPI_Send(a, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
      usleep(100000);
      if (all > 1) MPI_Send(a, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    } else
      printf("%.1f\n", run(a, b, x, y, all));
  MPI_Finalize();
}
