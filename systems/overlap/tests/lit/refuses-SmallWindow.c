// A few statements hide nothing, and the call is blocking again.
// RUN: %set,min-weight=50 %openmpi  %s | FileCheck %s
// RUN: %set,min-weight=50 %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  x[0] = 3;
}
// CHECK: stays blocking: SmallWindow:
// CHECK-LABEL: @f(
// CHECK: call i32 @MPI_Send
// CHECK-NOT: call void @overlap.
// CHECK: ret void
