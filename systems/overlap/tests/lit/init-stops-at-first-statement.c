// Algorithm 1: the search for the start ends at the first statement of the function.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  x[0] = 3;
  x[1] = 4;
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  x[2] = 5;
}
// CHECK-LABEL: @f(
// CHECK-NOT: store double
// CHECK: call i32 @overlap.start.MPI_Send
// CHECK: store double 3.0
// CHECK: store double 4.0
// CHECK: store double 5.0
// CHECK: call void @overlap.wait
