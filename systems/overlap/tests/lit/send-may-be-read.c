// A send does not mind that its buffer is read.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
double f(double *restrict a, int n) {
  MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  double s = 0;
  for (int i = 0; i < 100; i++)
    s += a[i];
  return s;
}
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Send
// CHECK-NEXT: br label
// The wait stands in the block behind the loop.
// CHECK: call void @overlap.wait
// CHECK-NEXT: ret double
// CHECK: fadd
