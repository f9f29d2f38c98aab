// A column of a matrix: the type counts elements, so the message stays in the array. Its size is asked for.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int n) {
  MPI_Datatype column, block;
  MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column);
  MPI_Type_contiguous(3, column, &block);
  MPI_Type_commit(&block);
  MPI_Send(a, 1, block, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
  a[0] = 1;
  MPI_Type_free(&block);
}
// CHECK: MPI_Send made nonblocking
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Send.derived(
// CHECK: fmul
// CHECK: call void @overlap.wait(
// CHECK: store double 1.0
// CHECK: define internal i32 @overlap.start.MPI_Send.derived(
// CHECK: call i32 @MPI_Type_size(
