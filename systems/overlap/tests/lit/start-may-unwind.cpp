// A start makes the blocking call where an error handler is set, and that may throw to a caller: nothing may take the start for
// a function that does not.
// RUN: %set %openmpi++ %s | FileCheck %s
// RUN: %set %mpich++ %s | FileCheck %s
#include "mpi.h"
void f(double *__restrict a, double *__restrict x) {
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK-LABEL: @_Z1fPdS_(
// CHECK: call i32 @overlap.start.MPI_Send
// CHECK: define internal i32 @overlap.start.MPI_Send({{.*}}) #[[ATTRIBUTES:[0-9]+]]
// CHECK-NOT: attributes #[[ATTRIBUTES]] = {{.*}}nounwind
