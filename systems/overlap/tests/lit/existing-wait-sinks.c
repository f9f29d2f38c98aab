// The program's own wait sinks below independent work, and its start rises above it.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
int f(double *restrict a, double *restrict x) {
  MPI_Request request;
  MPI_Status status;
  x[0] = 3;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  work(x, 100);
  return status.MPI_SOURCE;
}
// CHECK: MPI_Wait widened
// CHECK-LABEL: @f(
// CHECK: call i32 @MPI_Irecv
// CHECK: store double 3.0
// CHECK: fmul
// CHECK: call i32 @MPI_Wait
// CHECK-NOT: MPI_Wait(
// CHECK: ret i32
