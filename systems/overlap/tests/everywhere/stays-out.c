// Where nobody may ask for messages although some are pending: in functions that MPI calls, in
// handlers of signals, in child processes, in threads that started nothing, behind MPI_Finalize.
// The program is its own MPI_Iprobe, and says from where it was called; the work in the middle
// shows that it is called at all.
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
enum { N = 1 << 20, PLACES = 6 };
static const char *const names[PLACES] = {"work", "operation", "handler", "child", "thread", "end"};
static volatile int place, asked[PLACES];
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  asked[place]++;
  return PMPI_Iprobe(source, tag, comm, flag, status);
}
static double x[20000];
__attribute__((noinline)) static void work(double *x, int n) {
  for (int k = 0; k < 200; k++)
    for (int i = 1; i < n; i++)
      x[i] = 0.5 * x[i] + 0.25 * x[i - 1] + 1;
}
static void at(int which) {
  int before = place;
  place = which;
  work(x, 20000);
  place = before;
}
static void operation(void *in, void *out, int *n, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *n; i++)
    ((double *)out)[i] += ((double *)in)[i];
  at(1);
}
static void handler(int number) {
  (void)number;
  int before = place;
  place = 2;
  for (int k = 0; k < 2000; k++)
    for (int i = 1; i < 2000; i++)
      x[i] = 0.5 * x[i] + 0.25 * x[i - 1] + 1;
  place = before;
}
static void *thread(void *own) {
  work(own, 20000);
  return own;
}
static void (*volatile sum)(void *, void *, int *, MPI_Datatype *) = operation;
int main(int argc, char **argv) {
  int me, level;
  double *in = calloc(N, sizeof *in), *out = calloc(N, sizeof *out), one = 1, all;
  MPI_Request requests[2];
  MPI_Op op;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Op_create(sum, 1, &op);
  signal(SIGUSR1, handler);
  MPI_Irecv(in, N, MPI_DOUBLE, 1 - me, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, N, MPI_DOUBLE, 1 - me, 0, MPI_COMM_WORLD, &requests[1]);
  at(0);
  MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
  raise(SIGUSR1);
  pid_t child = fork();
  if (child == 0) {
    at(3);
    _exit(asked[3] != 0);
  }
  int status;
  waitpid(child, &status, 0);
  asked[3] = WEXITSTATUS(status);
  pthread_t other;
  place = 4;
  pthread_create(&other, NULL, thread, calloc(20000, sizeof(double)));
  pthread_join(other, NULL);
  place = 0;
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  // A message whose request is given away is never seen to end.
  MPI_Isend(out, 1, MPI_DOUBLE, me, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Request_free(&requests[0]);
  MPI_Recv(in, 1, MPI_DOUBLE, me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Op_free(&op);
  MPI_Finalize();
  at(5);
  for (int i = 0; i < PLACES; i++)
    if (asked[i])
      printf("asked in %s\n", names[i]);
  return all != 2;
}
