// Algorithm 1: a data dependence does not end the search; its statements move along, in order, and the start goes behind them.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, double *restrict y) {
  x[0] = 3;
  a[0] = y[0] + 1;
  x[1] = 4;
  a[1] = a[0] * y[1];
  x[2] = 5;
  MPI_Send(a, 2, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}
// CHECK-LABEL: @f(
// CHECK: fadd
// CHECK: store double %{{.*}}, ptr %
// CHECK: fmul
// CHECK: store double
// CHECK: call i32 @overlap.start.MPI_Send
// CHECK: store double 3.0
// CHECK: store double 4.0
// CHECK: store double 5.0
// CHECK: call void @overlap.wait
