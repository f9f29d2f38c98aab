/* Point-to-point calls of every shape that is converted, behind wrappers: a ring that sends,
   receives with a status, and computes what does not depend on the message.

   ring [count] [rounds] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void to_right(const double *data, int count, int right) { MPI_Send(data, count, MPI_DOUBLE, right, 7, MPI_COMM_WORLD); }

static int from_left(double *data, int count, int left) {
  MPI_Status status;
  int got;
  MPI_Recv(data, count, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &got);
  return got + status.MPI_SOURCE;
}

static void smooth(double *x, int n) {
  for (int pass = 0; pass < 4; pass++)
    for (int i = 1; i < n; i++)
      x[i] = 0.5 * (x[i] + x[i - 1]);
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int count = argc > 1 ? atoi(argv[1]) : 50000;
  int rounds = argc > 2 ? atoi(argv[2]) : 10;
  int left = (rank + size - 1) % size, right = (rank + 1) % size;
  double *out = malloc((size_t)count * sizeof *out), *in = malloc((size_t)count * sizeof *in);
  double *own = malloc(4096 * sizeof *own);
  for (int i = 0; i < count; i++)
    out[i] = rank + i % 13;
  for (int i = 0; i < 4096; i++)
    own[i] = i % 9;
  unsigned long sum = 0;
  for (int r = 0; r < rounds; r++) {
    if (rank % 2 == 0 && rank + 1 < size + size % 2) {
      to_right(out, count, right);
      smooth(own, 4096);
      sum += (unsigned long)from_left(in, count, left);
    } else {
      sum += (unsigned long)from_left(in, count, left);
      smooth(own, 4096);
      to_right(out, count, right);
    }
    for (int i = 0; i < count; i++)
      out[i] = in[i] + 1;
  }
  for (int i = 0; i < count; i++)
    sum = sum * 31 + (unsigned long)out[i];
  for (int i = 0; i < 4096; i++)
    sum = sum * 31 + (unsigned long)(own[i] * 1024);
  unsigned long total = 0;
  MPI_Reduce(&sum, &total, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("checksum %lu\n", total);
  MPI_Finalize();
  return 0;
}
