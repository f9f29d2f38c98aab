// A library that has nothing to do may give the processor to other ranks, and comes back when they are done. The program is
// its own MPI_Iprobe, which sleeps, and says whether the polls gave away more than a sixteenth of the time.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
enum { N = 1 << 20, SLEEP_NS = 1000000, WORK_NS = 400000000, PART = 16 };
static long asked;
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  struct timespec time = {0, SLEEP_NS};
  asked++;
  nanosleep(&time, NULL);
  return PMPI_Iprobe(source, tag, comm, flag, status);
}
static double x[20000];
__attribute__((noinline)) static void work(double *x, int n) {
  for (int k = 0; k < 200; k++)
    for (int i = 1; i < n; i++)
      x[i] = 0.5 * x[i] + 0.25 * x[i - 1] + 1;
}
static long now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}
int main(int argc, char **argv) {
  int me;
  double *in = calloc(N, sizeof *in), *out = calloc(N, sizeof *out);
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Irecv(in, N, MPI_DOUBLE, 1 - me, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, N, MPI_DOUBLE, 1 - me, 0, MPI_COMM_WORLD, &requests[1]);
  long start_ns = now_ns(), spent_ns;
  do {
    work(x, 20000);
    spent_ns = now_ns() - start_ns;
  } while (spent_ns < WORK_NS);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  printf("%s\n", asked == 0 ? "never asked" : asked * SLEEP_NS * PART < spent_ns ? "gives away little" : "gives away much");
  MPI_Finalize();
}
