// Requests of an array that are waited for one by one, and a nonblocking collective.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict b, double *restrict x) {
  MPI_Request requests[2];
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(b, 8, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  work(x, 100);
  b[0] = 1;
  a[0] = 2;
}
void g(double *restrict a, double *restrict x) {
  MPI_Request request;
  MPI_Ibcast(a, 8, MPI_DOUBLE, 1, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(x, 100);
}
// CHECK: MPI_Wait widened
// CHECK: MPI_Wait widened
// CHECK: MPI_Wait widened
// CHECK-LABEL: @f(
// CHECK: fmul
// CHECK: call i32 @MPI_Wait
// CHECK: call i32 @MPI_Wait
// CHECK-LABEL: @g(
// CHECK: call i32 @MPI_Ibcast
// CHECK: fmul
// CHECK: call i32 @MPI_Wait
