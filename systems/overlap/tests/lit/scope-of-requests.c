// The end of the scope of requests and statuses is no use of a message; that of a buffer is.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
int MPI_Waitall(int, MPI_Request *, MPI_Status *);
void consume(double *);
void own(double *restrict a, double *restrict b, double *restrict x) {
  {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(b, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
  }
  work(x, 100);
}
void blocking(double *restrict a, double *restrict x) {
  {
    MPI_Status status;
    MPI_Recv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &status);
  }
  work(x, 100);
}
// What is sent ends with its scope: another variable may have its place then.
void buffer(double *restrict x) {
  {
    double b[8];
    consume(b);
    MPI_Request request;
    MPI_Isend(b, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  work(x, 100);
}
// A status is read in its scope, so the wait comes before.
int status(double *restrict a, double *restrict x) {
  int from;
  {
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    from = *(volatile int *)&status;
  }
  work(x, 100);
  return from;
}
// CHECK-LABEL: @own(
// CHECK: call i32 @MPI_Isend
// CHECK: fmul
// CHECK: call i32 @MPI_Waitall
// CHECK-LABEL: @blocking(
// CHECK: call i32 @overlap.start.MPI_Recv
// CHECK: fmul
// CHECK: call void @overlap.wait
// CHECK-LABEL: @buffer(
// CHECK: call i32 @MPI_Wait(
// CHECK-NEXT: call void @llvm.lifetime.end
// CHECK-LABEL: @status(
// CHECK: call i32 @MPI_Wait
// CHECK: fmul
