// A datatype in a variable reaches out of the buffer that it is received into, to an array that a
// loop reads: no pass of that loop may be left for later.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
enum { N = 1000, SENT = 100, ROUNDS = 4 };
static double p[N], a[N], b[N], head[4];
static MPI_Datatype elsewhere, *volatile where = &elsewhere;

__attribute__((noinline)) static int fill(int other, int round) {
  MPI_Request request;
  MPI_Status status;
  for (int i = 0; i < N; i++)
    p[i] = a[i] + b[i] * round;
  MPI_Irecv(head, 1, elsewhere, other, 0, MPI_COMM_WORLD, &request);
  MPI_Send(p, SENT, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
  p[0] = 0;
  MPI_Wait(&request, &status);
  return status.MPI_TAG;
}

// The same with one call for both, and a datatype that might be any.
__attribute__((noinline)) static int fill_both(int other, int round, MPI_Datatype any) {
  MPI_Status status;
  for (int i = 0; i < N; i++)
    p[i] = a[i] - b[i] * round;
  MPI_Sendrecv(p, SENT, MPI_DOUBLE, other, 0, head, 1, any, other, 0, MPI_COMM_WORLD, &status);
  p[0] = 0;
  return status.MPI_TAG;
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int lengths[2] = {1, SENT - 1};
  MPI_Aint places[2] = {0, (char *)(a + N - SENT + 1) - (char *)head};
  MPI_Datatype types[2] = {MPI_DOUBLE, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, places, types, &elsewhere);
  MPI_Type_commit(&elsewhere);
  double sum = 0, sums[2];
  for (int round = 0; round < 2 * ROUNDS; round++) {
    for (int i = 0; i < N; i++)
      a[i] = i + rank, b[i] = i % 7;
    MPI_Barrier(MPI_COMM_WORLD);
    // The other one has sent by then.
    if (rank == round % 2)
      usleep(20000);
    sum += round < ROUNDS ? fill(1 - rank, round) : fill_both(1 - rank, round, *where);
    for (int i = 0; i < N; i++)
      sum += p[i] * (i % 13) + a[i];
  }
  MPI_Gather(&sum, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%.17g %.17g\n", sums[0], sums[1]);
  MPI_Type_free(&elsewhere);
  MPI_Finalize();
}
