// Collectives can be switched off.
// RUN: %set,collectives=off %openmpi  %s | FileCheck %s
// RUN: %set,collectives=off %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  MPI_Bcast(a, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: stays blocking: CollectivesOff:
