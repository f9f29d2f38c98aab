// A start one pass ahead has the count of the next pass, which reaches into another buffer.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) double run(double *a, double *b, double *restrict x, int n, int k, int K, int m) {
  double s = 0;
  do {
    MPI_Recv(a, k * m, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    s += a[0] * 0.5;
    MPI_Recv(b, m, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (k % 7 == 6) { s += b[1]; x[0] = b[2]; }
    for (int i = 1; i < n; i++) x[i] = x[i - 1] * 0.5 + s;
  } while (++k < K);
  return s;
}
int main(int argc, char **argv) {
  int rank, m = 100000, n = 20000; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *a = calloc(8 * m, 8), *x = calloc(n, 8);
  if (rank == 0) {
    MPI_Request q[2];
    for (int i = 0; i < 2 * m; i++) a[i] = 1;
    for (int i = 0; i < m; i++) a[3 * m + i] = 2;
    MPI_Isend(a, m, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(a, 2 * m, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &q[1]);
    usleep(300000);
    MPI_Send(a + 3 * m, m, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Send(a + 3 * m, 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
  } else {
    double s = run(a, a + m, x, n, argc, argc + 2, m);
    for (int i = 0; i < 3 * m; i++) s += a[i];
    printf("%.1f %f\n", s, x[n - 1]);
  }
  MPI_Finalize();
}
