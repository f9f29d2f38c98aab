// Two messages of a wrapper that is not inlined end in its caller's caller.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
__attribute__((noinline)) static void exchange(double *a, double *b, int n) {
  MPI_Recv(a, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(b, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
__attribute__((noinline)) static void more(double *a, double *b, int n) { exchange(a, b, 2 * n); }
double f(double *restrict a, double *restrict b, double *restrict x, int n) {
  more(a, b, n);
  work(x, 100);
  return a[0];
}
void stays(double *restrict a, double *restrict b, int n) { more(a, b, n); }
// CHECK: MPI_Recv widened {{.*}}, through more
// CHECK: MPI_Recv widened {{.*}}, through more
// CHECK-LABEL: define {{.*}}@f(
// CHECK: call {{.*}}@more.open(
// CHECK: fmul
// CHECK: call void @overlap.wait(
// CHECK: load double
// CHECK: call void @overlap.wait(
// CHECK-LABEL: define {{.*}}@stays(
// CHECK: call {{.*}}@more(
// CHECK-LABEL: define internal {{.*}}@exchange.open(
// CHECK-NOT: overlap.wait(
// CHECK: ret void
