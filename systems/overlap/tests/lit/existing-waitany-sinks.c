// MPI_Waitany ends one of several messages: it passes what uses none of them, and no other use.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
int f(double *restrict a, double *restrict b, double *restrict x) {
  MPI_Request requests[2];
  int which;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(b, 8, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
  work(x, 100);
  x[0] = which;
  return which;
}
void g(double *restrict a, double *restrict b, double *restrict x, int *restrict which) {
  MPI_Request requests[2];
  int n;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(b, 8, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitsome(2, requests, &n, which, (MPI_Status *)0);
  work(x, 100);
  b[0] = 1;
}
// CHECK: MPI_Waitany widened
// CHECK: MPI_Waitsome widened
// CHECK-LABEL: @f(
// CHECK: fmul
// CHECK: call i32 @MPI_Waitany
// CHECK: load i32
// CHECK-LABEL: @g(
// CHECK: fmul
// CHECK: call i32 @MPI_Waitsome
// CHECK: store double 1.0
