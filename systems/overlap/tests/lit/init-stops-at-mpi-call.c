// Algorithm 1: a start does not rise above another MPI call, so the order of initiations stays.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict b, double *restrict x) {
  MPI_Barrier(MPI_COMM_WORLD);
  x[0] = 3;
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  x[1] = 4;
}
// CHECK-LABEL: @f(
// CHECK: @MPI_Barrier
// CHECK-NEXT: call i32 @overlap.start.MPI_Send
// CHECK-NEXT: store double 3.0
