// With basic, the first use ends the search for the wait.
// RUN: %set,strength=basic %openmpi  %s | FileCheck %s
// RUN: %set,strength=basic %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  MPI_Recv(a, 2, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  x[0] = 3;
  a[1] = a[0] * 7;
  x[1] = 4;
}
// CHECK-LABEL: @f(
// CHECK: store double 3.0
// CHECK: call void @overlap.wait
// CHECK: fmul
// CHECK: store double 4.0
