// The program's own start and wait stand in a scope with a destructor and in a `try`. The whole program sets no error handler, so
// MPI throws nothing and the wait moves like any other, up to a call that may throw.
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
  MPI_Request request;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  compute(x, 100);
  may_throw();
}
// What only MPI's calls could have thrown to calls MPI, too.
__attribute__((noinline)) static void g(double *__restrict a, double *__restrict x) {
  MPI_Request request;
  try {
    MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    compute(x, 100);
  } catch (...) {
    MPI_Send(x, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    compute(a, 8);
  }
}
int main() {
  static double a[8], x[100];
  f(a, x);
  g(a, x);
}
// CHECK: MPI_Wait widened
// CHECK: MPI_Wait widened
// CHECK: define {{.*}}@_ZL1fPdS_(
// CHECK: call i32 @MPI_Irecv
// CHECK: @_ZL7computePdi
// CHECK: call i32 @MPI_Wait
// CHECK: invoke {{.*}}@_ZL9may_throwv
// CHECK: define {{.*}}@_ZL1gPdS_(
// CHECK: call i32 @MPI_Irecv
// CHECK: @_ZL7computePdi
// CHECK: call i32 @MPI_Wait
