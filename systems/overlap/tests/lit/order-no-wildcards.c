// With wildcards=none no rank can tell, and the receive stays pending over the send.
// RUN: %set,wildcards=none %openmpi  %s | FileCheck %s
// RUN: %set,wildcards=none %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict b, double *restrict x) {
  MPI_Recv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(b, 8, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK-LABEL: @f(
// CHECK: start.MPI_Recv
// CHECK-NOT: call void @overlap.wait
// CHECK: start.MPI_Send
// CHECK: fmul
// CHECK-COUNT-2: call void @overlap.wait
