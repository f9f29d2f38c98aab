// The two sites match each other: rank 0 comes through the first, the others through the third, and all through the second.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
static double a[100], x[100];
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    MPI_Bcast(a, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(a, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(x, 100);
  if (rank != 0)
    MPI_Bcast(a, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
// CHECK: stays blocking: OtherSite:
