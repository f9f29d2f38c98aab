// Sendrecv becomes a receive and a send that are pending together; the receive is posted first.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict b, double *restrict x) {
  MPI_Sendrecv(a, 8, MPI_DOUBLE, 1, 0, b, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work(x, 100);
  b[0] += 1;
}
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Sendrecv
// CHECK: fmul
// CHECK: call void @overlap.wait
// CHECK-LABEL: define internal i32 @overlap.start.MPI_Sendrecv
// CHECK: @MPI_Irecv
// CHECK: @MPI_Isend
