// A lone innermost loop is cut into strips; one loop of 100 passes is not.
// RUN: %set,progress=on %openmpi  %s | FileCheck %s
// RUN: %set,progress=on %mpich  %s | FileCheck %s
#include "mpi.h"
double f(double *restrict a, double *restrict x, int n) {
  double sum = 0;
  MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  for (int i = 1; i < n; i++) {
    x[i] = x[i] * 0.5 + 3;
    sum += x[i] * x[i - 1];
  }
  return sum;
}
void g(double *restrict a, double *restrict x, int n) {
  MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: MPI_Send made nonblocking {{.*}} 1 polls
// CHECK: MPI_Send made nonblocking {{.*}} 0 polls
// CHECK-LABEL: @f(
// CHECK: call {{.*}}i32 @overlap.poll
// CHECK: call i64 @llvm.umin.i64(
// CHECK: fmul
// CHECK-LABEL: @g(
// CHECK-NOT: overlap.poll
// CHECK: ret void
