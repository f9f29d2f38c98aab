// The wait of a receive stays above a read of its buffer.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
double f(double *restrict a, double *restrict x) {
  MPI_Recv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  double s = a[0];
  work(x, 100);
  return s;
}
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Recv
// CHECK: call void @overlap.wait
// CHECK: load double, ptr
// CHECK: ret double
