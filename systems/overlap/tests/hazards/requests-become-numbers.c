/* Behind the wait the memory of the requests is used for numbers, by a pointer of which the code
   says nothing: which rows of a loop write it, only the running program can tell. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define X 40
#define Y 20000
struct memory {
  double *in;
  MPI_Request *requests;
};
__attribute__((noinline)) static void step(struct memory *m, double *out, const double *in,
                                           int next, int before) {
  MPI_Irecv(m->in, Y, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &m->requests[0]);
  MPI_Isend(m->in + Y, Y, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &m->requests[1]);
  MPI_Waitall(2, m->requests, MPI_STATUSES_IGNORE);
  for (long i = 1; i < X; i++)
    for (long j = 0; j < Y; j++)
      out[i * Y + j] = in[i * Y + j] + .5 * in[(i - 1) * Y + j];
}
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  struct memory *m = malloc(sizeof *m);
  double *a = malloc(X * Y * sizeof *a), *b = malloc(X * Y * sizeof *b);
  for (long i = 0; i < X * Y; i++)
    a[i] = b[i] = (double)(i % 13 + rank);
  MPI_Request *apart = malloc(2 * sizeof *apart);
  /* Nowhere in the loop; in its first rows, in the middle, in the last ones; as what it reads of old. */
  for (int k = 0; k < 12; k++) {
    double *in = k % 2 ? b : a, *out = k % 2 ? a : b;
    MPI_Request *lie[] = {apart, (MPI_Request *)(out + Y), (MPI_Request *)(out + 20 * Y + 7),
                          (MPI_Request *)(out + X * Y - 1 - 2), (MPI_Request *)out};
    *m = (struct memory){in, lie[k % 5]};
    step(m, out, in, (rank + 1) % size, (rank + size - 1) % size);
    out[0] = out[1] = 1;
  }
  double sum = 0;
  for (long i = 0; i < X * Y; i++)
    sum += a[i] * (double)(i % 7) + b[i];
  printf("%d %.17g %.17g %.17g\n", rank, sum, a[20 * Y + 7], b[X * Y - 3]);
  MPI_Finalize();
  return 0;
}
