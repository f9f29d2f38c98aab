// A run that was measured did not come here.
// RUN: %set,profile=%S/inputs/run.json %openmpi %s | FileCheck %s
// RUN: %set,profile=%S/inputs/run.json %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  MPI_Send(a, 100000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: stays blocking: NeverRan:
