// Algorithm 1: a start does not leave the branch it stands in.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int c) {
  x[0] = 3;
  if (c) {
    x[1] = 4;
    MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  }
  x[2] = 5;
}
// CHECK-LABEL: @f(
// CHECK: store double 3.0
// CHECK: br i1
// CHECK: call i32 @overlap.start.MPI_Send
// CHECK: store double 4.0
