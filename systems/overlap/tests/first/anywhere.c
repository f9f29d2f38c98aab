// Loops that fill messages, which lie anywhere in what they write, or beside it; and what may stand
// between. Arguments: first seed, how many. Prints a line a seed.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 300, EACH = 5, ROUNDS = 4, KINDS = 14 };
static double a[N * EACH], b[2 * N], p[3 * N], q[3 * N], v[3 * N], other_array[N];
static int columns[N * EACH], rows[N + 1];
static double seen;
static unsigned state;
static unsigned number(unsigned below) {
  state = state * 1103515245 + 12345;
  return (state >> 8) % below;
}

// Starts the receive first, so that nobody waits for ever, whatever the length. Writes what was
// sent and reads the status, so that nothing but the loop can hide the message.
#define EXCHANGE(From, Count, Type)                                                \
  MPI_Irecv(q, 3 * N, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, &pending);           \
  MPI_Send(From, Count, Type, partner, 1, MPI_COMM_WORLD);                         \
  *(From) += 1;                                                                     \
  MPI_Wait(&pending, &status);                                                     \
  seen += status.MPI_TAG

static __attribute__((noinline)) double product(int n, int at, int length, int partner) {
  MPI_Request pending;
  MPI_Status status;
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum = 0;
    for (int k = rows[i]; k < rows[i + 1]; k++)
      sum += a[k] * b[columns[k]];
    p[i] = sum;
  }
  EXCHANGE(p + at, length, MPI_DOUBLE);
  return sum;
}
static __attribute__((noinline)) void down(int n, int at, int length, int partner) {
  MPI_Request pending;
  MPI_Status status;
  for (int i = n - 1; i >= 0; i--)
    p[i] = a[i] + 2 * b[i];
  EXCHANGE(p + at, length, MPI_DOUBLE);
}
static __attribute__((noinline)) void pairs(int n, int at, int length, int partner) {
  MPI_Request pending;
  MPI_Status status;
  for (int i = 0; i < n; i++) {
    p[2 * i] = a[i];
    p[2 * i + 1] = sqrt(fabs(b[i]));
  }
  EXCHANGE(p + at, length, MPI_DOUBLE);
}
static __attribute__((noinline)) void two_arrays(int n, int at, int length, int partner) {
  MPI_Request pending;
  MPI_Status status;
  for (int i = 0; i < n; i++) {
    p[i] = a[i] * a[i];
    v[i] = a[i] - b[i];
  }
  EXCHANGE(v + at, length, MPI_DOUBLE);
}
static __attribute__((noinline)) void in_place(int n, int at, int length, int partner) {
  MPI_Request pending;
  MPI_Status status;
  for (int i = 0; i < n; i++)
    p[i] = p[i] * 0.5 + b[i];
  EXCHANGE(p + at, length, MPI_DOUBLE);
}
static __attribute__((noinline)) void read_between(int n, int at, int length, int partner, int where) {
  MPI_Request pending;
  MPI_Status status;
  for (int i = 0; i < n; i++)
    p[i] = a[i] + b[i];
  seen += p[where];
  EXCHANGE(p + at, length, MPI_DOUBLE);
}
static __attribute__((noinline)) void written_between(int n, int at, int length, int partner, int where) {
  MPI_Request pending;
  MPI_Status status;
  for (int i = 0; i < n; i++)
    p[i] = a[i] + b[i];
  b[where] = 7;
  EXCHANGE(p + at, length, MPI_DOUBLE);
}
static __attribute__((noinline)) void another_written(int n, int at, int length, int partner, int where) {
  MPI_Request pending;
  MPI_Status status;
  for (int i = 0; i < n; i++)
    p[i] = a[i] + b[i];
  other_array[where % N] = 7;
  memset(other_array, 0, 16);
  EXCHANGE(p + at, length, MPI_DOUBLE);
}
static __attribute__((noinline)) void both_ways(int n, int at, int length, int partner) {
  for (int i = 0; i < n; i++)
    p[i] = a[i] + b[i];
  MPI_Sendrecv(p + at, length, MPI_DOUBLE, partner, 0, q, 3 * N, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  p[at] += q[0];
}
static __attribute__((noinline)) void into_what_is_read(int n, int at, int length, int partner) {
  for (int i = 0; i < n; i++)
    p[i] = a[i] + q[i];
  MPI_Sendrecv(p + at, length, MPI_DOUBLE, partner, 0, q, 3 * N, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  p[at] += q[0];
}
static __attribute__((noinline)) void own_starts(int n, int at, int length, int partner) {
  MPI_Request pending[3];
  MPI_Status statuses[3];
  for (int i = 0; i < n; i++)
    p[i] = a[i] + b[i];
  MPI_Irecv(q, 3 * N, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, &pending[0]);
  MPI_Irecv(v, 3 * N, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, &pending[1]);
  MPI_Isend(p + at, length, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, &pending[2]);
  MPI_Wait(&pending[2], MPI_STATUS_IGNORE);
  MPI_Isend(p, length, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, &pending[2]);
  MPI_Waitall(3, pending, statuses);
  seen += statuses[1].MPI_TAG;
}
static __attribute__((noinline)) void strided(int n, int at, int partner, MPI_Datatype column) {
  MPI_Request pending;
  MPI_Status status;
  for (int i = 0; i < n; i++)
    p[i] = a[i] - b[i];
  EXCHANGE(p + at, 2, column);
}
static __attribute__((noinline)) void reduced(int n, int at, int length, int partner, int times) {
  MPI_Request pending;
  MPI_Status status;
  for (int i = 0; i < n; i++)
    p[i] = a[i] + b[i];
  for (int k = 0; k < times; k++) {
    EXCHANGE(p + at, length, MPI_DOUBLE);
    for (int i = 0; i < length; i++)
      p[i] += q[i];
  }
}
static __attribute__((noinline)) void sometimes(int n, int at, int length, int partner, int sends) {
  MPI_Request pending;
  MPI_Status status;
  for (int i = 0; i < n; i++)
    p[i] = a[i] + b[i];
  if (sends) {
    EXCHANGE(p + at, length, MPI_DOUBLE);
  }
}

static double sum_of(const double *of, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum = sum * 0.999 + of[i];
  return sum;
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned first = strtoul(argv[1], 0, 10), count = strtoul(argv[2], 0, 10);
  MPI_Datatype column;
  MPI_Type_vector(9, 2, 7, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  double *sums = malloc(count * sizeof *sums), *theirs = malloc(count * sizeof *theirs);
  for (unsigned seed = first; seed < first + count; seed++) {
    state = seed;
    seen = 0;
    double last = 0;
    for (int i = 0; i < 3 * N; i++)
      p[i] = q[i] = v[i] = number(100);
    for (int i = 0; i < N * EACH; i++)
      a[i] = number(1000) + rank, columns[i] = number(2 * N);
    for (int i = 0; i < 2 * N; i++)
      b[i] = number(1000) - rank;
    rows[0] = 0;
    for (int i = 0; i < N; i++)
      rows[i + 1] = rows[i] + number(EACH + 1);
    // The message often stays where it was; both processes choose the same numbers.
    int at = 0, length = 0, n = 0;
    for (int round = 0; round < ROUNDS; round++) {
      if (round == 0 || number(3) == 0)
        n = number(N), at = number(n + N / 4 + 1), length = number(N / 2);
      if (number(8) == 0)
        at = 0, length = n;
      int where = number(N), partner = rank ^ 1;
      switch (seed % KINDS) {
      case 0: last = product(n, at, length, partner); break;
      case 1: down(n, at, length, partner); break;
      case 2: pairs(n, at, length, partner); break;
      case 3: two_arrays(n, at, length, partner); break;
      case 4: in_place(n, at, length, partner); break;
      case 5: read_between(n, at, length, partner, where); break;
      case 6: written_between(n, at, length, partner, where); break;
      case 7: another_written(n, at, length, partner, where); break;
      case 8: both_ways(n, at, length, partner); break;
      case 9: into_what_is_read(n, at, length, partner); break;
      case 10: own_starts(n, at, length, partner); break;
      case 11: strided(n, at, partner, column); break;
      case 12: reduced(n, at, length, partner, number(3)); break;
      case 13: sometimes(n, at, length, partner, number(2)); break;
      }
      seen += last + sum_of(p, 3 * N) + sum_of(q, 3 * N) + sum_of(v, 3 * N);
    }
    sums[seed - first] = seen;
  }
  // One process prints, so that no line is torn.
  MPI_Sendrecv(sums, count, MPI_DOUBLE, rank ^ 1, 0, theirs, count, MPI_DOUBLE, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (unsigned i = 0; i < count && rank == 0; i++)
    printf("%u %.17g %.17g\n", first + i, sums[i], theirs[i]);
  MPI_Type_free(&column);
  MPI_Finalize();
}
