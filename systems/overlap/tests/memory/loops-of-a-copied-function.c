// A function with several long loops that is copied, so that they poll, and such loops behind its
// call; each sum starts where the loop before has ended.
#include <mpi.h>
#include <stdio.h>
#define N 3000
static double a[N][64], b[N], buffer[90000];
__attribute__((noinline)) static double work(double *x, int n) {
  int k = 0;
  double sum = 0;
  for (; k < n / 2; k++)
    for (int j = 1; j < 64; j++)
      a[k][j] = a[k][j - 1] * 0.5 + x[k];
  for (; k < n; k++)
    for (int j = 0; j < 63; j++)
      for (int i = 0; i < 9; i++)
        a[k][j] += x[k] * i;
  for (int j = 0; j < k; j++)
    sum += x[j] * a[j][7];
  return sum;
}
int main(int argc, char **argv) {
  int me, n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  double sum = 0;
  for (int pass = 0; pass < 3; pass++) {
    if (me == 0)
      MPI_Send(buffer, 90000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    else if (me == 1)
      MPI_Recv(buffer, 90000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += work(b, N - pass);
    for (int k = N - 1; k > 0; k--)
      for (int j = 1; j < 64; j++)
        b[k] += a[k][j] - a[k - 1][j - 1];
    for (int k = pass; k < N; k++)
      for (int j = 0; j < k % 50; j++)
        b[k] *= 1.0 - 1e-9 * a[k][j];
    sum += work(b, N) + buffer[pass];
  }
  if (me == 0)
    printf("%g\n", sum);
  MPI_Finalize();
  return 0;
}
