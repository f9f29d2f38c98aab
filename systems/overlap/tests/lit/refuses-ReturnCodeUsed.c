// Start and wait may fail apart.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
int f(double *restrict a, double *restrict x) {
  int code = MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
  return code;
}
// CHECK: stays blocking: ReturnCodeUsed:
