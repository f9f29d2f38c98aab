// The loop behind an exchange writes over what is being sent, and over what is being received; the
// other process is late.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { N = 60000, HALO = 40000 };
static void exchange(double *in, const double *out, int other) {
  MPI_Request pending;
  MPI_Status status;
  MPI_Irecv(in, HALO, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &pending);
  MPI_Send(out, HALO, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
  MPI_Wait(&pending, &status);
}
static void product(const int *c, const double *v, const double *x, double *y) {
  for (int i = 0; i < N; i++)
    y[i] = v[i] * x[c[i]];
}
static double solve(double *in, double *out, const int *c, const double *v, const double *x, double *y, int other) {
  exchange(in, out, other);
  product(c, v, x, y);
  return y[0] + y[HALO / 2] + y[N - 1];
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *x = calloc(N, 8), *y = calloc(N, 8), *v = calloc(N, 8), *in = calloc(N, 8), sum;
  int *c = calloc(N, 4);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < N; i++) {
      c[i] = i * 7 % N;
      v[i] = y[i] = x[i] = i + rank + round;
    }
    if (rank)
      usleep(200000);
    // First what is sent, then what is received.
    double *over = round ? in : y;
    sum = solve(in, y, c, v, x, over, rank ^ 1);
    double all = 0;
    for (int i = 0; i < N; i++)
      all += in[i] * (i % 11);
    printf("%d %d %.0f %.0f\n", round, rank, sum, all);
  }
  MPI_Finalize();
}
