/* A function gets the buffer of a message to read, and writes it by another way: through a field of a struct, a cast, a second
   argument, a global pointer, or a function that it is given. The message must be sent first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { N = 200000 };
struct pair {
  double *out;
  const double *in;
};
static double *also, kept;

static double sum_of(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += x[i] * (i % 3);
  return sum;
}
__attribute__((noinline)) static double by_field(const double *x, const struct pair *p, int n) {
  double sum = sum_of(x, n) + sum_of(p->in, n);
  for (int i = 0; i < n; i++)
    p->out[i] = -1;
  return sum;
}
__attribute__((noinline)) static double by_cast(const double *x, int n) {
  double sum = sum_of(x, n);
  for (int i = 0; i < n; i++)
    ((double *)x)[i] = -2;
  return sum;
}
__attribute__((noinline)) static double by_argument(const double *x, double *y, int n) {
  double sum = sum_of(x, n);
  for (int i = 0; i < n; i++)
    y[i] = -3;
  return sum;
}
__attribute__((noinline)) static double by_global(const double *x, int n) {
  double sum = sum_of(x, n);
  for (int i = 0; i < n; i++)
    also[i] = -4;
  return sum;
}
__attribute__((noinline)) static double by_function(const double *x, void (*f)(double *, int), double *y, int n) {
  double sum = sum_of(x, n);
  f(y, n);
  return sum;
}
static void overwrite(double *y, int n) {
  for (int i = 0; i < n; i++)
    y[i] = -5;
}
__attribute__((noinline)) static double only_reads(const double *x, double *y, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += y[i] = 0.5 * x[i];
  kept += sum;
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *a = malloc(N * sizeof(double)), *b = calloc(N, sizeof(double)), total = 0;
  also = a;
  struct pair both = {a, b};
  for (int way = 0; way < 6; way++) {
    for (int i = 0; i < N; i++)
      a[i] = rank ? 0 : i % 7 + way;
    if (rank == 0) {
      MPI_Send(a, N, MPI_DOUBLE, 1, way, MPI_COMM_WORLD);
      if (way == 0)
        total += by_field(a, &both, N);
      else if (way == 1)
        total += by_cast(a, N);
      else if (way == 2)
        total += by_argument(a, a, N);
      else if (way == 3)
        total += by_global(a, N);
      else if (way == 4)
        total += by_function(a, overwrite, a, N);
      else
        total += only_reads(a, b, N);
    } else if (rank == 1) {
      usleep(30000);
      MPI_Recv(a, N, MPI_DOUBLE, 0, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      printf("%d %g\n", way, sum_of(a, N));
    }
  }
  /* The same, each way alone, so that no other stands in the window. */
  for (int way = 0; way < 2; way++) {
    for (int i = 0; i < N; i++)
      a[i] = rank ? 0 : i % 7 + way;
    if (rank == 0) {
      MPI_Send(a, N, MPI_DOUBLE, 1, way, MPI_COMM_WORLD);
      total += by_field(a, &both, N);
      MPI_Send(b, N, MPI_DOUBLE, 1, way, MPI_COMM_WORLD);
      total += by_argument(b, b, N);
      MPI_Send(a, N, MPI_DOUBLE, 1, way, MPI_COMM_WORLD);
      total += by_global(a, N);
    } else if (rank == 1) {
      usleep(30000);
      for (int i = 0; i < 3; i++) {
        MPI_Recv(a, N, MPI_DOUBLE, 0, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d %g\n", i, sum_of(a, N));
      }
    }
  }
  if (rank == 0)
    printf("%g %g\n", total, kept);
  MPI_Finalize();
  free(a);
  free(b);
  return 0;
}
