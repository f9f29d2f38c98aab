// A run that came here waited for less than what a start and a wait cost.
// RUN: %set,profile=%S/inputs/run.json %openmpi %s | FileCheck %s
// RUN: %set,profile=%S/inputs/run.json %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  MPI_Send(a, 100000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: stays blocking: NeverPays:
