// Who has received something tells it to a third process, which receives from anybody and sees the
// first message first. So a receive whose end is put off does not stay pending over a send.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { N = 40000 };
static double product(const int *c, const double *v, const double *x, double *y) {
  for (int i = 0; i < N; i++)
    y[i] = v[i] * x[c[i]];
  return y[N - 1] + y[7];
}
static double pass_on(double *x, double *out, const int *c, const double *v, double *y) {
  MPI_Request pending;
  MPI_Status status;
  MPI_Irecv(x, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &pending);
  MPI_Wait(&pending, &status);
  MPI_Send(out, N, MPI_DOUBLE, 2, 1, MPI_COMM_WORLD);
  return product(c, v, x, y);
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *x = calloc(N, 8), *y = calloc(N, 8), *v = calloc(N, 8), *out = calloc(N, 8);
  int *c = calloc(N, 4);
  for (int i = 0; i < N; i++) {
    c[i] = i * 7 % N;
    out[i] = v[i] = i + rank;
  }
  if (rank == 0) {
    printf("0 %f\n", pass_on(x, out, c, v, y));
  } else if (rank == 1) {
    usleep(300000);
    MPI_Send(v, N, MPI_DOUBLE, 2, 1, MPI_COMM_WORLD);
    MPI_Send(v, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  } else {
    for (int i = 0; i < 2; i++) {
      MPI_Status status;
      MPI_Recv(x, N, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
      printf("2: %d from %d\n", i, status.MPI_SOURCE);
    }
  }
  MPI_Finalize();
}
