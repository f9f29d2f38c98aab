// What a program sees of its error handlers: where they throw to, what was written before, what was
// destroyed on the way, and which messages are there. The handler is made and set in second.cpp.
#include "second.h"
#include <mpi.h>
#include <stdio.h>
#include <vector>

static const int N = 40000;
static double out[N], in[N], other[N];
double work[N];
static int rank, size, destroyed, sum;
static MPI_Comm apart;

struct Guard {
  ~Guard() { destroyed++; }
};
__attribute__((noinline)) static void compute(int seed) {
  for (int i = 1; i < N; i++)
    work[i] = work[i - 1] * .5 + i + seed;
}
static double total(const double *a) {
  double all = 0;
  for (int i = 0; i < N; i++)
    all += a[i] * (i % 7);
  return all;
}

/* Work before and behind a call in a scope that destroys something. */
__attribute__((noinline)) static double exchange(MPI_Comm comm, int to, int seed) {
  Guard guard;
  compute(seed);
  MPI_Sendrecv(out, N, MPI_DOUBLE, to, 1, in, N, MPI_DOUBLE, 1 - rank, 1, comm, MPI_STATUS_IGNORE);
  double was = work[N - 1];
  compute(seed + 1);
  return was + in[seed];
}

/* Nothing is destroyed here, but a caller may catch. */
__attribute__((noinline)) static void send(MPI_Comm comm, int to, int seed) {
  compute(seed);
  MPI_Send(out, N, MPI_DOUBLE, to, 2, comm);
  compute(seed + 1);
}

/* A message of one communicator is under way when the call of another one throws. */
__attribute__((noinline)) static int both(int to, int seed) {
  Guard guard;
  int code = 0;
  try {
    MPI_Sendrecv(out, N, MPI_DOUBLE, 1 - rank, 3, other, N, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    compute(seed);
    code = MPI_Send(out, N, MPI_DOUBLE, to, 4, apart);
    compute(seed + 1);
  } catch (int thrown) {
    code = thrown;
  }
  return code;
}

/* The program's own requests in a vector that is freed on the way. The message may be too long. */
__attribute__((noinline)) static double own(MPI_Comm comm, int count, int seed) {
  Guard guard;
  std::vector<double> got(100);
  std::vector<MPI_Request> q(2);
  MPI_Irecv(got.data(), count, MPI_DOUBLE, 1 - rank, 5, comm, &q[0]);
  MPI_Isend(out, 100, MPI_DOUBLE, 1 - rank, 5, comm, &q[1]);
  MPI_Waitall(2, q.data(), MPI_STATUSES_IGNORE);
  compute(seed);
  return work[N - 1] + got[seed];
}

static void tell(const char *what, double value) {
  printf("%d %s %.17g destroyed %d handler saw %.17g\n", rank, what, value, destroyed, seen());
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < N; i++)
    out[i] = rank + i;
  tell("fatal", exchange(MPI_COMM_WORLD, 1 - rank, 3));
  MPI_Comm_dup(MPI_COMM_WORLD, &apart);
  set_throwing(apart);
  tell("beside", exchange(MPI_COMM_WORLD, 1 - rank, 5));
  for (int k = 0; k < 2; k++) {
    try {
      tell("throws", exchange(apart, k ? size + 4 : 1 - rank, 10 * k));
    } catch (int thrown) {
      tell("caught", thrown + work[N - 1]);
    }
    try {
      send(apart, size + k, 10 * k + 5);
      tell("sent", 0);
    } catch (int thrown) {
      tell("caught of send", thrown + work[N - 1]);
    }
    tell("both", both(size + 8, 30 + k));
    tell("its message", total(other) + work[N - 1]);
  }
  set_code(apart, 1);
  tell("returns", both(size + 8, 40) != MPI_SUCCESS);
  set_code(apart, 0);
  tell("fatal again", exchange(apart, 1 - rank, 50));
  tell("own", own(MPI_COMM_WORLD, 100, 60));
  for (MPI_Comm comm : {apart, MPI_COMM_WORLD, MPI_COMM_SELF})
    set_throwing(comm);
  for (int count : {100, 50}) {
    try {
      tell("own throws", own(apart, count, count - 20));
    } catch (int thrown) {
      tell("caught of own", thrown + work[N - 1]);
    }
  }
  for (MPI_Comm comm : {apart, MPI_COMM_WORLD, MPI_COMM_SELF})
    set_code(comm, 0);
  printf("started %d\n", started());
  MPI_Finalize();
}
