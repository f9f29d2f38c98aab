// A send tells its rank nothing, so it may be pending while others start.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict b, double *restrict x) {
  MPI_Send(b, 8, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD);
  MPI_Recv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work(x, 100);
}
// CHECK-LABEL: @f(
// CHECK: start.MPI_Send
// CHECK-NOT: call void @overlap.wait
// CHECK: start.MPI_Recv
// CHECK: fmul
// CHECK-COUNT-2: call void @overlap.wait
