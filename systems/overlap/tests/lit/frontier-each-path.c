// A wait stands before the first use on each path, and a second one finds nothing open.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int c) {
  MPI_Recv(a, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (c)
    a[3] = 7;
  else
    work(x, 100);
  MPI_Barrier(MPI_COMM_WORLD);
}
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Recv
// CHECK: br i1
// CHECK: call void @overlap.wait
// CHECK: store double 7.0
// CHECK: fmul
// CHECK: call void @overlap.wait
// CHECK: @MPI_Barrier
