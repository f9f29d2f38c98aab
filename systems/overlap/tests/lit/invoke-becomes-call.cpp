// In C++ the call stands in a scope with a destructor. The whole program sets no error handler, so MPI throws nothing and the
// call moves like any other; the wait stays before a call that may throw.
// RUN: %set %openmpi++ %s | FileCheck %s
// RUN: %set %mpich++ %s | FileCheck %s
#include "mpi.h"
static volatile int destroyed;
struct Guard {
  ~Guard() { destroyed = destroyed + 1; }
};
__attribute__((noinline)) static void may_throw() {
  if (destroyed)
    throw 1;
}
__attribute__((noinline)) static void compute(double *x, int n) {
  for (int i = 0; i < n; i++)
    x[i] = x[i] * .5 + i;
}
__attribute__((noinline)) static void f(double *__restrict a, double *__restrict x) {
  Guard guard;
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  compute(x, 100);
  may_throw();
}
int main() {
  static double a[8], x[100];
  f(a, x);
}
// CHECK: MPI_Send made nonblocking
// CHECK: define {{.*}}@_ZL1fPdS_(
// CHECK-NOT: invoke
// CHECK: call i32 @overlap.start.MPI_Send
// CHECK: @_ZL7computePdi
// CHECK: call void @overlap.wait
// CHECK: invoke {{.*}}@_ZL9may_throwv
