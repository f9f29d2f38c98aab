// A wait for several requests in an array sinks; a use of one of their buffers stops it.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
int MPI_Waitall(int, MPI_Request *, MPI_Status *);
void f(double *restrict a, double *restrict b, double *restrict x) {
  MPI_Request requests[2];
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(b, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, (MPI_Status *)0);
  work(x, 100);
  b[3] = 7;
  x[0] = 8;
}
// CHECK: MPI_Waitall widened
// CHECK-LABEL: @f(
// CHECK: call i32 @MPI_Isend
// CHECK: fmul
// CHECK: store double 8.0
// CHECK: call i32 @MPI_Waitall
// CHECK: store double 7.0
