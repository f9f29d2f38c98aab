// A wrapper that reports an error waits before that; only its other end is left to the caller.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void report(int);
__attribute__((noinline)) static void receive(double *a, int n) {
  int code = MPI_Recv(a, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (code)
    report(code);
}
double f(double *restrict a, double *restrict x, int n) {
  receive(a, n);
  work(x, 100);
  return a[0];
}
// CHECK-LABEL: define {{.*}}@f(
// CHECK: call {{.*}}@receive.open(
// CHECK: fmul
// CHECK: call void @overlap.wait(
// CHECK: load double
// CHECK-LABEL: define internal {{.*}}@receive.open(
// CHECK: overlap.start.MPI_Recv
// CHECK: call void @overlap.wait(
// CHECK-NEXT: call void @report(
// CHECK-NOT: overlap.wait(
// CHECK: ret void
