// A library that has nothing to do may give the processor to other ranks, and comes back when they
// are done. The program is its own MPI_Iprobe and MPI_Test, which sleep, and says whether the polls
// gave away more than a sixteenth of the time. Its messages are its own, or, with CONVERTED, those
// of a call that the plugin converts.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
enum { N = 1 << 20, SLEEP_NS = 1000000, WORK_NS = 400000000, PART = 16 };
static long asked;
static void give_away(void) {
  struct timespec time = {0, SLEEP_NS};
  asked++;
  nanosleep(&time, NULL);
}
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  give_away();
  return PMPI_Iprobe(source, tag, comm, flag, status);
}
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  (void)request, (void)status;
  give_away();
  *flag = 0;
  return MPI_SUCCESS;
}
static double x[20000];
static void work(double *x, int n, int passes) {
  for (int k = 0; k < passes; k++)
    for (int i = 1; i < n; i++)
      x[i] = 0.5 * x[i] + 0.25 * x[i - 1] + 1;
}
__attribute__((noinline)) static void work_elsewhere(double *x, int n) { work(x, n, 200); }
static long now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}
int main(int argc, char **argv) {
  int me;
  double *in = calloc(N, sizeof *in), *out = calloc(N, sizeof *out);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  long start_ns = now_ns(), spent_ns;
#ifdef CONVERTED
  MPI_Sendrecv(out, N, MPI_DOUBLE, 1 - me, 0, in, N, MPI_DOUBLE, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work(x, 20000, 6000);
  x[0] = in[N - 1];
  spent_ns = now_ns() - start_ns;
#else
  MPI_Request requests[2];
  MPI_Irecv(in, N, MPI_DOUBLE, 1 - me, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, N, MPI_DOUBLE, 1 - me, 0, MPI_COMM_WORLD, &requests[1]);
  do {
    work_elsewhere(x, 20000);
    spent_ns = now_ns() - start_ns;
  } while (spent_ns < WORK_NS);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
#endif
  // One write a rank: a launcher mixes those of two.
  const char *said = asked == 0 ? "never asked\n" : asked * SLEEP_NS * PART < spent_ns ? "gives away little\n" : "gives away much\n";
  if (write(1, said, strlen(said)) < 0)
    return 1;
  MPI_Finalize();
}
