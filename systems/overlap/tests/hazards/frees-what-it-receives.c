// What has been received is freed unread, and the result of the loop behind lies in the same
// memory; the other process is late. The second time the request and the buffer are parts of one
// object, and the buffer's address is read from it.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { N = 60000 };
struct both {
  MPI_Request pending;
  double *in, room[N];
};
__attribute__((noinline)) static void prepare(struct both *b) { b->in = b->room; }
static void product(const int *c, const double *v, const double *x, double *y) {
  for (int i = 0; i < N; i++)
    y[i] = v[i] * x[c[i]];
}
static double alone(const double *out, const int *c, const double *v, const double *x, int other) {
  MPI_Request pending;
  MPI_Status status;
  double *in = malloc(N * sizeof *in), sum;
  MPI_Irecv(in, N, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &pending);
  MPI_Send(out, N, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
  MPI_Wait(&pending, &status);
  free(in);
  double *y = malloc(N * sizeof *y);
  product(c, v, x, y);
  usleep(300000);
  MPI_Barrier(MPI_COMM_WORLD);
  sum = y[0] + y[N / 2] + y[N - 1];
  free(y);
  return sum;
}
static double together(const double *out, const int *c, const double *v, const double *x, int other) {
  MPI_Status status;
  struct both *b = malloc(sizeof *b);
  double sum;
  prepare(b);
  MPI_Irecv(b->in, N, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &b->pending);
  MPI_Send(out, N, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
  MPI_Wait(&b->pending, &status);
  free(b);
  double *y = malloc(sizeof *b);
  product(c, v, x, y);
  usleep(300000);
  MPI_Barrier(MPI_COMM_WORLD);
  sum = y[5] + y[N / 2] + y[N - 1];
  free(y);
  return sum;
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *x = calloc(N, 8), *v = calloc(N, 8), *out = calloc(N, 8);
  int *c = calloc(N, 4);
  for (int i = 0; i < N; i++) {
    c[i] = i * 7 % N;
    v[i] = x[i] = i + rank;
    out[i] = -1;
  }
  if (rank)
    usleep(200000);
  printf("%d alone %.0f\n", rank, alone(out, c, v, x, rank ^ 1));
  if (rank)
    usleep(200000);
  printf("%d together %.0f\n", rank, together(out, c, v, x, rank ^ 1));
  MPI_Finalize();
}
