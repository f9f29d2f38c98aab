// Halo exchanges with loops behind them, over arrays that lie anywhere in one block of memory, over
// each other too. Messages come late, so that loops run while they are pending. Arguments: first
// seed, how many. Prints a line a seed.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { N = 200, HALO = 40, EACH = 6, BLOCK = 1 << 12, PIECES = 3 };
static double block[BLOCK];
static unsigned state;
static unsigned number(unsigned below) {
  state = state * 1103515245 + 12345;
  return (state >> 8) % below;
}

struct rows {
  int nnz[N];
  const int *columns[N];
  const double *values[N];
};

static void exchange(double *in, double *out, int n, int other, const double *x, const int *from) {
  MPI_Request *pending = malloc(PIECES * sizeof *pending);
  int piece = n / PIECES;
  for (int i = 0; i < PIECES; i++)
    MPI_Irecv(in + i * piece, piece, MPI_DOUBLE, other, i, MPI_COMM_WORLD, pending + i);
  for (int i = 0; i < n; i++)
    out[i] = x[from[i]];
  for (int i = 0; i < PIECES; i++)
    MPI_Send(out + i * piece, piece, MPI_DOUBLE, other, i, MPI_COMM_WORLD);
  MPI_Status status;
  for (int i = 0; i < PIECES; i++)
    if (MPI_Wait(pending + i, &status) != MPI_SUCCESS)
      abort();
  free(pending);
}

// The same with the program's own sends, and indices.
static void exchange_indices(int *in, int *out, int n, int other) {
  MPI_Request pending[2];
  MPI_Irecv(in, n, MPI_INT, other, 7, MPI_COMM_WORLD, &pending[0]);
  MPI_Isend(out, n, MPI_INT, other, 7, MPI_COMM_WORLD, &pending[1]);
  MPI_Waitall(2, pending, MPI_STATUSES_IGNORE);
}

static void product(const struct rows *a, const double *x, double *y) {
  for (int i = 0; i < N; i++) {
    double sum = 0;
    const double *v = a->values[i];
    const int *c = a->columns[i];
    for (int j = 0; j < a->nnz[i]; j++)
      sum += v[j] * x[c[j]];
    y[i] = sum;
  }
}
static void product_down(const struct rows *a, const double *x, double *y) {
  for (int i = N - 1; i >= 0; i--) {
    double sum = 1;
    for (int j = 0; j < a->nnz[i]; j++)
      sum -= a->values[i][j] * x[a->columns[i][j]];
    y[2 * i] = sum;
  }
}
static void gather(const int *c, const double *v, const double *x, double *y) {
  for (int i = 0; i < N; i++)
    y[i] += v[i] * x[c[i]];
}
static void gather_some(const int *c, const double *v, const double *x, double *y) {
  for (int i = 0; i < N; i++)
    if (v[i] > 0.5)
      y[i] = x[c[i]] - v[i];
}
static void gather_twice(const int *c, const int *d, const double *x, double *y) {
  for (long i = 0; i < N; i++) {
    y[3 * i] = x[c[d[i]]];
    y[3 * i + 1] = 0.5 * x[d[i]];
  }
}
static void copy(const double *x, double *y) {
  for (int i = 0; i < N; i++)
    y[i] = x[i];
}

static double solve(unsigned seed, int rank, int other) {
  static int columns[N * EACH], from[HALO], mine[HALO], theirs[2 * N];
  struct rows a;
  state = seed;
  for (int i = 0; i < BLOCK; i++)
    block[i] = number(1000) / 1000.0 + rank;
  // One time in three nothing lies over anything else.
  int apart = number(3) == 0;
  double *x = block + (apart ? 0 : number(BLOCK / 2)), *y = block + (apart ? 1000 : number(BLOCK / 2));
  double *in = x + N - (apart ? 0 : number(HALO)), *out;
  do
    out = block + number(BLOCK - HALO);
  while ((out < in + HALO && in < out + HALO) || (apart && out < block + 2000));
  for (int i = 0; i < HALO; i++)
    from[i] = number(N - HALO), mine[i] = number(N + HALO);
  for (int i = 0; i < N * EACH; i++)
    columns[i] = number(i % 4 ? N - HALO : N + HALO);
  for (int i = 0; i < 2 * N; i++)
    theirs[i] = number(i < N / 2 ? N : 10);
  for (int i = 0; i < N; i++) {
    a.nnz[i] = number(EACH + 1);
    a.columns[i] = columns + i * EACH;
    a.values[i] = block + (apart ? 2000 + i * EACH : (int)number(BLOCK - N));
  }
  int scalar = number(BLOCK - 8), kind = seed % 8;
  usleep(number(2) == (unsigned)rank ? 1500 : 0);
  if (kind == 6)
    exchange_indices(theirs + N / 2, mine, HALO, other);
  else
    exchange(in, out, HALO, other, x, from);
  if (kind % 2) {
    block[scalar] += 1;
    memmove(block + scalar, block + scalar / 2, 24);
  }
  switch (kind) {
  case 0:
  case 1: product(&a, x, y); break;
  case 2: product_down(&a, x, y); break;
  case 3: gather(columns, a.values[0], x, y); break;
  case 4: gather_some(columns, a.values[0], x, y); break;
  case 5: gather_twice(columns, theirs, x, y); break;
  case 6: gather(theirs, a.values[0], x, y); break;
  case 7: copy(in, y); break;
  }
  double sum = 0;
  for (int i = 0; i < BLOCK; i++)
    sum += block[i] * (i % 1013 + 1);
  for (int i = 0; i < 2 * N; i++)
    sum += theirs[i] * (i % 5);
  return sum;
}

int main(int argc, char **argv) {
  int rank;
  unsigned first = argc > 1 ? atoi(argv[1]) : 1, count = argc > 2 ? atoi(argv[2]) : 100;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *sums = malloc(count * sizeof *sums), *theirs = malloc(count * sizeof *theirs);
  for (unsigned i = 0; i < count; i++)
    sums[i] = solve(first + i, rank, rank ^ 1);
  // One process prints, so that no line is torn.
  MPI_Sendrecv(sums, count, MPI_DOUBLE, rank ^ 1, 0, theirs, count, MPI_DOUBLE, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (unsigned i = 0; i < count && rank == 0; i++)
    printf("%u %.17g %.17g\n", first + i, sums[i], theirs[i]);
  MPI_Finalize();
}
