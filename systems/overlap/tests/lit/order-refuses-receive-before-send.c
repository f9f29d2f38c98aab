// What was received may be told to others, so a receive ends before the next send starts.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict b, double *restrict x) {
  MPI_Recv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  x[0] = 3;
  MPI_Send(b, 8, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK-LABEL: @f(
// CHECK: start.MPI_Recv
// CHECK: call void @overlap.wait
// CHECK: start.MPI_Send
// CHECK: call void @overlap.wait
