// All datatypes in the array are constants.
// RUN: %set,collectives=uniform %openmpi %s | FileCheck %s
// RUN: %set,collectives=uniform %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict b, int *n, double *restrict x) {
  MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
  MPI_Alltoallw(a, n, n, types, b, n, n, types, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: MPI_Alltoallw made nonblocking
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Alltoallw(
// CHECK: fmul
// CHECK: call void @overlap.wait(
