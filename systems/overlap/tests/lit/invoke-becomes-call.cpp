// In C++ the call stands in a scope with a destructor; the wait stays before a call that may throw.
// RUN: %set %openmpi++ %s | FileCheck %s
// RUN: %set %mpich++ %s | FileCheck %s
#include "mpi.h"
struct Guard {
  ~Guard();
};
void may_throw();
void f(double *__restrict a, double *__restrict x) {
  Guard guard;
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
  may_throw();
}
// CHECK: MPI_Send made nonblocking
// CHECK-LABEL: @_Z1fPdS_(
// CHECK-NOT: invoke
// CHECK: call i32 @overlap.start.MPI_Send
// CHECK: fmul
// CHECK: call void @overlap.wait
// CHECK: invoke void @_Z9may_throwv
