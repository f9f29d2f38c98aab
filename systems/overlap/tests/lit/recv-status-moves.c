// The status of a receive is ready when it is read: the wait stays above.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
int f(double *restrict a, double *restrict x) {
  MPI_Status status;
  MPI_Recv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &status);
  work(x, 100);
  return status.MPI_SOURCE;
}
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Recv
// CHECK: fmul
// CHECK: call void @overlap.wait
// CHECK: ret i32
