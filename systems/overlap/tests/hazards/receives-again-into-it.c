// Two exchanges in front of one loop receive into the same memory, the second one a part of it:
// what it brings is what the loop reads. A third one receives into what the second has sent.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 1000, HALO = 20000, PART = 16 };
static void exchange(double *in, const double *out, int n, int other, int tag) {
  MPI_Request q;
  MPI_Irecv(in, n, MPI_DOUBLE, other, tag, MPI_COMM_WORLD, &q);
  MPI_Send(out, n, MPI_DOUBLE, other, tag, MPI_COMM_WORLD);
  MPI_Wait(&q, MPI_STATUS_IGNORE);
}
static void product(const double *restrict x, const int *restrict c, double *restrict y) {
  for (int i = 0; i < N; i++)
    y[i] = x[c[i]] + 2 * x[c[N - 1 - i]];
}
int main(int argc, char **argv) {
  int me, n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  double *x = calloc(N + HALO, sizeof *x), *out = calloc(HALO, sizeof *out), *y = calloc(N, sizeof *y), sum = 0;
  int *c = malloc(N * sizeof *c);
  for (int i = 0; i < N; i++) {
    c[i] = i % 3 ? i : N + i * 20;
    x[i] = i + me;
  }
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < HALO; i++)
      out[i] = i * (round + 1) + me;
    int other = me ^ 1;
    if (other < n) {
      exchange(x + N, out, HALO, other, 0);
      exchange(x + N, out + HALO / 2, PART, other, 1);
      exchange(out, x + N, HALO, other, 2);
      product(x, c, y);
    }
    for (int i = 0; i < N; i++)
      sum += y[i] * (i % 7) + out[i];
  }
  printf("%d %.17g\n", me, sum);
  MPI_Finalize();
}
