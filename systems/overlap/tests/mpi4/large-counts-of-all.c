// Each collective by its name with large counts on the odd ranks, by its plain one on the even
// ones, with work behind.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#if MPI_VERSION >= 4
#define EITHER(call, ...) (rank % 2 ? call##_c(__VA_ARGS__) : call(__VA_ARGS__))
#else
#define EITHER(call, ...) call(__VA_ARGS__)
#endif
enum { N = 40000 };
static double a[4 * N], b[4 * N], w[N];
static double work(void) {
  double sum = 0;
  for (int i = 0; i < N; i++)
    sum += w[i] = w[i] * 0.5 + i;
  for (int i = 0; i < 4 * N; i++)
    sum += b[i] / (i + 1);
  return sum;
}
int main(int argc, char **argv) {
  int rank, size;
  double sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 4 * N; i++)
    a[i] = i * 0.25 + rank;
  EITHER(MPI_Bcast, b, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  sum += work();
  EITHER(MPI_Allreduce, a, b, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  sum += work();
  EITHER(MPI_Reduce, a, b, N, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  sum += work();
  EITHER(MPI_Gather, a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  sum += work();
  EITHER(MPI_Allgather, a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, MPI_COMM_WORLD);
  sum += work();
  EITHER(MPI_Alltoall, a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, MPI_COMM_WORLD);
  sum += work();
  EITHER(MPI_Reduce_scatter_block, a, b, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  sum += work();
  EITHER(MPI_Scan, a, b, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  sum += work();
  printf("%d %.12g\n", rank, sum);
  MPI_Finalize();
}
