/* Listing 1.1 of Nguyen et al. 2020: an exchange between all ranks, two matrix products, and one
   use of the exchanged data between them.

   listing [bytes] [product_us] [rounds]

   Prints a checksum that depends on neither the machine nor the transformation. With -DBY_HAND it
   is overlapped by hand, with polls; with OVERLAP_BENCH set it ends without MPI_Finalize. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define N 48

#ifdef BY_HAND
static MPI_Request pending = MPI_REQUEST_NULL;

static void poll(void) {
  int flag;
  if (pending != MPI_REQUEST_NULL)
    MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
}
#else
static void poll(void) {}
#endif

static void matrix_multiply(const double *restrict a, const double *restrict b, double *restrict res, int repeats) {
  for (int r = 0; r < repeats; r++) {
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++)
        res[i * N + j] = 0;
      for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
          res[i * N + j] += a[i * N + k] * b[k * N + j];
    }
    poll();
  }
}

#ifdef TOUCH_APART
__attribute__((noinline))
#endif
static void touch(unsigned char *d, int n) {
  for (int i = 0; i < n; i++)
    d[i] = (unsigned char)(d[i] * 3 + 1);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int bytes = argc > 1 ? atoi(argv[1]) : 1 << 20;
  int product_us = argc > 2 ? atoi(argv[2]) : 2500;
  int rounds = argc > 3 ? atoi(argv[3]) : 20;

  size_t all = (size_t)bytes * (size_t)size;
  unsigned char *d1 = malloc(all), *d2 = malloc(all);
  double *a = malloc(N * N * sizeof *a), *b = malloc(N * N * sizeof *b);
  double *a2 = malloc(N * N * sizeof *a), *b2 = malloc(N * N * sizeof *b);
  double *res = malloc(N * N * sizeof *res), *res2 = malloc(N * N * sizeof *res2);
  for (int i = 0; i < N * N; i++) {
    a[i] = i % 7;
    b[i] = i % 5;
    a2[i] = i % 3;
    b2[i] = i % 11;
  }
  memset(d1, rank + 1, all);
  memset(d2, 0, all);

  /* How often a product is repeated to take product_us; the smallest of five, for a busy machine. */
  double best = 1;
  for (int i = 0; i < 5; i++) {
    double start = seconds();
    matrix_multiply(a, b, res, 20);
    double took = (seconds() - start) / 20;
    best = took < best ? took : best;
  }
  int repeats = (int)(product_us * 1e-6 / best);
  repeats = repeats < 1 ? 1 : repeats;

  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (int round = 0; round < rounds; round++) {
#ifdef BY_HAND
    MPI_Ialltoall(d1, bytes, MPI_BYTE, d2, bytes, MPI_BYTE, MPI_COMM_WORLD, &pending);
    matrix_multiply(a, b, res, repeats);
    matrix_multiply(a2, b2, res2, repeats);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    touch(d1, bytes * size);
#else
    MPI_Alltoall(d1, bytes, MPI_BYTE, d2, bytes, MPI_BYTE, MPI_COMM_WORLD);
    matrix_multiply(a, b, res, repeats);
    touch(d1, bytes * size);
    matrix_multiply(a2, b2, res2, repeats);
#endif
  }
  double took = MPI_Wtime() - start;

  unsigned long sum = 0;
  for (size_t i = 0; i < all; i++)
    sum = sum * 31 + d1[i] + 7ul * d2[i];
  for (int i = 0; i < N * N; i++)
    sum = sum * 31 + (unsigned long)res[i] + (unsigned long)res2[i];
  unsigned long total = 0;
  MPI_Reduce(&sum, &total, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("checksum %lu\n", total);
    fprintf(stderr, "time_ms %.4f\n", 1e3 * took / rounds);
  }
  if (getenv("OVERLAP_BENCH")) {
    /* A launcher that sees one rank end may drop what another has just printed. */
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(100000);
    _exit(0);
  }
  MPI_Finalize();
  return 0;
}
