// A function in another file ends the messages; it declares MPI_Waitall without arguments, as old C
// does. Behind it nothing is pending, so no question comes from the work there. The program is its
// own MPI_Iprobe, and counts.
#ifdef SECOND_FILE
int MPI_Waitall();
void finish(void *requests, void *ignore) { MPI_Waitall(2, requests, ignore); }
#else
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 16, ROUNDS = 4, PASSES = 4000 };
static volatile int asked;
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  (void)source, (void)tag, (void)comm, (void)status;
  asked++;
  *flag = 0;
  return MPI_SUCCESS;
}
void finish(void *requests, void *ignore);
static double x[20000];
__attribute__((noinline)) static void work(double *x, int n, int passes) {
  for (int k = 0; k < passes; k++)
    for (int i = 1; i < n; i++)
      x[i] = 0.5 * x[i] + 0.25 * x[i - 1] + 1;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *in = calloc(N, sizeof *in), *out = calloc(N, sizeof *out);
  MPI_Request requests[2];
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Irecv(in, N, MPI_DOUBLE, 1 - rank, round, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, N, MPI_DOUBLE, 1 - rank, round, MPI_COMM_WORLD, &requests[1]);
    work(x, 20000, PASSES / 8);
    finish(requests, MPI_STATUSES_IGNORE);
  }
  int during = asked;
  asked = 0;
  work(x, 20000, PASSES);
  int at[2] = {during > 0, asked == 0}, all[2];
  MPI_Allreduce(at, all, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0)
    puts(!all[0] ? "not asked while pending" : all[1] ? "quiet behind the end" : "asked behind the end");
  MPI_Finalize();
  return x[0] < 0;
}
#endif
