// Persistent requests, started and ended by functions of another file, which also holds them and
// whose names look like MPI's; the work between is in this file, which does not know MPI. The
// message is large, so it moves only while its sender is inside MPI.
#ifdef SECOND_FILE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 20 };
static MPI_Request held[1];
static double *buffer;
static int me;
int begin(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  buffer = calloc(N, sizeof *buffer);
  if (me == 0)
    MPI_Send_init(buffer, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, held);
  else
    MPI_Recv_init(buffer, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, held);
  return me;
}
void MPI_X_start(void) { MPI_Startall(1, held); }
void MPI_X_finish(void) { MPI_Waitall(1, held, MPI_STATUSES_IGNORE); }
void end(void) {
  MPI_Request_free(held);
  MPI_Finalize();
}
#ifdef MAIN_ELSEWHERE
int in_library(int argc, char **argv);
int main(int argc, char **argv) { return in_library(argc, argv); }
#endif
#else
#include <stdio.h>
#include <unistd.h>
int begin(int argc, char **argv);
void MPI_X_start(void), MPI_X_finish(void), end(void);
static double x[20000];
static void work(void) {
  for (int k = 0; k < 50; k++)
    for (int i = 1; i < 20000; i++)
      x[i] = 0.5 * x[i] + 0.25 * x[i - 1] + 1;
}
#ifdef MAIN_ELSEWHERE
#define main in_library
#endif
int main(int argc, char **argv) {
  int me = begin(argc, argv);
  const char *arrived = argv[1];
  for (int round = 0; round < 2; round++) {
    MPI_X_start();
    if (me == 1) {
      MPI_X_finish();
      if (round == 1)
        fclose(fopen(arrived, "w"));
      continue;
    }
    int moved = 0;
    // The first round is short.
    for (int tries = 0; tries < (round ? 1000 : 1) && !moved; tries++) {
      work();
      moved = access(arrived, F_OK) == 0;
    }
    MPI_X_finish();
    if (round == 1)
      fputs(moved ? "moved\n" : "stood still\n", stdout); // one write a rank: a launcher mixes those of two
  }
  end();
  return 0;
}
#endif
