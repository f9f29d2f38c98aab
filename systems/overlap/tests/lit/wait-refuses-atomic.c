// An atomic store, which may tell another thread, is not passed.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, _Atomic int *flag) {
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  *flag = 1;
}
// CHECK: MPI_Send stays blocking: SmallWindow
