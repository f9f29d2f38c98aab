// Algorithm 1: the statements that need the message move behind the independent ones, in order, and the wait goes before them.
// RUN: %set,strength=extended %openmpi  %s | FileCheck %s
// RUN: %set,strength=extended %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  MPI_Recv(a, 2, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  x[0] = 3;
  double s = a[0] * 7;
  x[1] = 4;
  a[1] = s;
  x[2] = 5;
}
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Recv
// CHECK: store double 3.0
// CHECK: store double 4.0
// CHECK: store double 5.0
// CHECK: call void @overlap.wait
// CHECK: fmul
// CHECK: store double
