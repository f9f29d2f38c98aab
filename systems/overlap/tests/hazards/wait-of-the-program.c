// A profiling layer among the program's own files: of arguments that its calls share, link-time
// optimisation takes one away.
#include <mpi.h>
#include <stdio.h>
static int waits;
static double a[40000], x[5000];
__attribute__((noinline)) int MPI_Wait(MPI_Request *request, MPI_Status *status) { waits++; return PMPI_Wait(request, status); }
int main(int argc, char **argv) {
  int rank, got = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request request;
  for (int r = 0; r < 2; r++) {
    if (rank == 0) {
      MPI_Isend(a, r + 7, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Send(a, 30000 + r, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    } else if (rank == 1) {
      MPI_Status status;
      int n;
      MPI_Irecv(a, 40000, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Recv(a, 40000, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &status);
      for (int i = 1; i < 5000; i++)
        x[i] = x[i - 1] * .5 + i;
      MPI_Get_count(&status, MPI_DOUBLE, &n);
      got += n + status.MPI_TAG;
    }
  }
  printf("%d %d %g %s\n", rank, got, x[9], waits ? "waited" : "");
  MPI_Finalize();
}
