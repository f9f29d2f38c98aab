// The same where nothing is destroyed or caught here, but perhaps in a caller: the call as it is written may throw.
// RUN: %set %openmpi++ %s | FileCheck %s
// RUN: %set %mpich++ %s | FileCheck %s
#include "mpi.h"
void f(double *__restrict a, double *__restrict x) {
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: define {{.*}}@_Z1fPdS_({{.*}} #[[ATTRIBUTES:[0-9]+]]
// CHECK: call i32 @overlap.start.MPI_Send.asks(
// CHECK: call {{.*}}i32 @MPI_Send(
// CHECK-NOT: attributes #[[ATTRIBUTES]] = {{.*}}nounwind
