// The same of the function that polls call, and with a window that is long enough for them.
#include <mpi.h>
#include <stdio.h>
static int tests;
static double a[40000], x[2000][500];
__attribute__((noinline)) int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  tests++;
  return PMPI_Test(request, flag, status);
}
int main(int argc, char **argv) {
  int rank, flag = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank < 2) {
    MPI_Request request;
    MPI_Irecv(a, 8, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &request);
    MPI_Send(a + 100, 7 + rank, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD);
    while (!flag)
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < 40000; i++)
    a[i] = rank ? -1 : i;
  if (rank == 0)
    MPI_Send(a, 40000, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
  else if (rank == 1)
    MPI_Recv(a, 40000, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < 2000; i++)
      for (int j = 1; j < 500; j++)
        x[i][j] = x[i][j - 1] * .5 + i;
  printf("%d %g %g %s\n", rank, a[777], x[9][9], tests ? "tested" : "");
  MPI_Finalize();
}
