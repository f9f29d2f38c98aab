// MPI_PROC_NULL: the status of a receive from it names it, MPI_ANY_TAG and a count of 0, which
// MPICH's MPI_Irecv gets wrong.
#include <mpi.h>
#include <stdio.h>
static double x[50000], y[50000], work[50000];
static void show(const char *what, int me, MPI_Status *st) {
  int count = -5;
  MPI_Get_count(st, MPI_DOUBLE, &count);
  printf("%s %d: %d %d %d\n", what, me, st->MPI_SOURCE == MPI_PROC_NULL, st->MPI_TAG == MPI_ANY_TAG, count);
}
int main(int argc, char **argv) {
  int me, n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  int up = me + 1 < n ? me + 1 : MPI_PROC_NULL, down = me ? me - 1 : MPI_PROC_NULL;
  MPI_Status st;
  MPI_Recv(x, 50000, MPI_DOUBLE, me == 5000 ? 0 : MPI_PROC_NULL, 4, MPI_COMM_WORLD, &st);
  for (int i = 1; i < 50000; i++)
    work[i] = work[i - 1] * 0.5 + i;
  show("recv", me, &st);
  MPI_Sendrecv(x, 50000, MPI_DOUBLE, up, 1, y, 50000, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &st);
  for (int i = 1; i < 50000; i++)
    work[i] = work[i - 1] * 0.5 + i;
  show("sendrecv", me, &st);
  MPI_Sendrecv_replace(y, 50000, MPI_DOUBLE, down, 2, up, 2, MPI_COMM_WORLD, &st);
  for (int i = 1; i < 50000; i++)
    work[i] = work[i - 1] * 0.5 + i;
  show("replace", me, &st);
  printf("%g\n", work[49999] + y[7]);
  MPI_Finalize();
}
