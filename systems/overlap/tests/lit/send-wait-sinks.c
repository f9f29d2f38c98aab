// The wait of a send sinks below work on other memory and stays above a store to its buffer.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int n) {
  MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
  a[0] = 1;
}
// CHECK: MPI_Send made nonblocking
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Send
// CHECK: fmul
// CHECK: call void @overlap.wait
// CHECK: store double 1.0
// CHECK-LABEL: define internal i32 @overlap.start.MPI_Send
// CHECK: @MPI_Isend
