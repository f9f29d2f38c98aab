// A message that is filled by the first rows of a product: process 1 has it while process 0 still
// computes the others, as it sees in a file that both have in memory.
#include <fcntl.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
enum { N = 100000, SENT = 20000, ROUNDS = 8 };
static double now(volatile double *at) { return *at; }

static __attribute__((noinline)) void fill(double *restrict p, const double *restrict a, int round) {
  for (int i = 0; i < N; i++) {
    double sum = round + 1;
    for (int k = 0; k < 40; k++)
      sum = sqrt(sum + a[i]);
    p[i] = sum + 2 * round;
  }
  MPI_Send(p, SENT, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  static double a[N], in[SENT];
  int rank, first = 0;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int file = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, N * sizeof(double)))
    abort();
  double *p = mmap(0, N * sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  for (int i = 0; i < N; i++)
    a[i] = i % 17;
  double total = 0;
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      fill(p, a, round);
    } else {
      MPI_Recv(in, SENT, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      // What the last row had before is less.
      first += now(&p[N - 1]) < 1 + 2 * round;
      for (int i = 0; i < SENT; i++)
        total += in[i];
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
      total += p[i];
    MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("%d %.17g\n", rank, total);
  if (rank == 1)
    puts(first ? "the message went first" : "the loop went first");
  MPI_Finalize();
}
