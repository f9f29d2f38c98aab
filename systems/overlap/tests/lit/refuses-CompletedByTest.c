// A request that is asked about stays as it is; its start still moves up.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  MPI_Request request;
  int flag;
  work(x, 100);
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(x, 100);
}
void poll(double *restrict a, double *restrict x) {
  MPI_Request requests[2];
  int done = 0;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(a + 8, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[1]);
  while (!done) {
    work(x, 10);
    MPI_Testall(2, requests, &done, (MPI_Status *)0);
  }
}
// CHECK: MPI_{{Wait|Test}} stays where it is: CompletedByTest:
// CHECK: MPI_Testall stays where it is: CompletedByTest:
// CHECK-LABEL: @f(
// CHECK: call i32 @MPI_Irecv
// CHECK: fmul
// CHECK: call i32 @MPI_Test
// CHECK-NEXT: call i32 @MPI_Wait
// CHECK: fmul
