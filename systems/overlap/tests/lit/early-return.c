// On a path that returns early the wait stands before the return.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int c) {
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  x[0] = 3;
  if (c)
    return;
  work(x, 100);
}
// CHECK-LABEL: @f(
// CHECK: start.MPI_Send
// CHECK: fmul
// CHECK: call void @overlap.wait
// CHECK: ret void
