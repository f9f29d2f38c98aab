// Start and wait of a few bytes cost more than they hide.
// RUN: %set,min-bytes=65536 %openmpi  %s | FileCheck %s
// RUN: %set,min-bytes=65536 %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: stays blocking: SmallMessage:
