/* A program may have its own operator delete in another file: the first sees what it does. */
#ifndef SECOND_FILE
#include <cstdio>
#include <mpi.h>
extern long frees;
constexpr int N = 100000;
static double w[N], c[N];
__attribute__((noinline)) static double step(int rank, int size) {
  double *in = new double[N];
  MPI_Request q;
  MPI_Irecv(in, N, MPI_DOUBLE, (rank + 1) % size, 5, MPI_COMM_WORLD, &q);
  MPI_Send(c, N, MPI_DOUBLE, (rank + size - 1) % size, 5, MPI_COMM_WORLD);
  MPI_Wait(&q, MPI_STATUS_IGNORE);
  delete[] in;
  long until = frees;
  for (int i = 1; i < N; i++)
    w[i] = w[i] * 0.5 + i;
  return until + w[7];
}
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long before = frees;
  double first = step(rank, size) - before, second = step(rank, size) - before;
  std::printf("%d %g %g\n", rank, first, second);
  MPI_Finalize();
  return 0;
}
#else
#include <cstdlib>
#include <new>
long frees;
void *operator new(std::size_t n) { return malloc(n); }
void *operator new[](std::size_t n) { return malloc(n); }
void operator delete(void *p) noexcept { frees++, free(p); }
void operator delete[](void *p) noexcept { frees++, free(p); }
void operator delete(void *p, std::size_t) noexcept { frees++, free(p); }
void operator delete[](void *p, std::size_t) noexcept { frees++, free(p); }
#endif
