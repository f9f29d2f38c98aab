// A call by the name of the profiling interface is seen by no shim and no table.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
static double a[100], x[100];
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  PMPI_Bcast(a, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(a, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: stays blocking: ProfilingCall:
