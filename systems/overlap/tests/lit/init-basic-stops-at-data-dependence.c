// With basic, a data dependence ends the search for the start.
// RUN: %set,strength=basic %openmpi  %s | FileCheck %s
// RUN: %set,strength=basic %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  x[0] = 3;
  a[0] = 7;
  x[1] = 4;
  MPI_Send(a, 2, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}
// CHECK-LABEL: @f(
// CHECK: store double 3.0
// CHECK: store double 7.0
// CHECK: call i32 @overlap.start.MPI_Send
// CHECK: store double 4.0
// CHECK: call void @overlap.wait
