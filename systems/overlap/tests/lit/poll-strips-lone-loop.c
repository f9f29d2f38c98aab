// A lone innermost loop is cut into strips; one loop of 100 passes is not. A loop that counts its passes,
// from wherever, needs no second counter; one that walks along a pointer gets one.
// RUN: %set,progress=on %openmpi -fno-discard-value-names %s | FileCheck %s
// RUN: %set,progress=on %mpich -fno-discard-value-names %s | FileCheck %s
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
void h(double *restrict a, double *restrict x, int n) {
  MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  for (int i = 0; i < n; i++)
    x[i] = x[i] * 0.5 + 3;
}
void k(double *restrict a, double *restrict x, double *end) {
  MPI_Send(a, 1000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  for (double *p = x; p != end; p++)
    *p = *p * 0.5 + 3;
}
// CHECK: MPI_Send made nonblocking {{.*}} 1 polls
// CHECK: MPI_Send made nonblocking {{.*}} 0 polls
// CHECK: MPI_Send made nonblocking {{.*}} 1 polls
// CHECK: MPI_Send made nonblocking {{.*}} 1 polls
// CHECK-LABEL: @f(
// CHECK: call {{.*}}i32 @overlap.poll
// CHECK: %overlap.from = phi i64 [ 1, %{{.*}} ]
// CHECK-NOT: %overlap.pass = phi
// CHECK: call i64 @llvm.umin.i64(
// CHECK: fmul
// CHECK-LABEL: @g(
// CHECK-NOT: overlap.poll
// CHECK: ret void
// CHECK-LABEL: @h(
// CHECK-NOT: %overlap.pass = phi
// CHECK: %overlap.from = phi i64
// CHECK-NOT: %overlap.pass = phi
// CHECK: [[LESS:%.*]] = call i64 @llvm.umin.i64(
// CHECK: [[STEP:%.*]] = call i64 asm "", "=r,0"(i64 [[LESS]])
// CHECK: %overlap.to = add i64 %overlap.from, [[STEP]]
// CHECK: phi i64 [ %overlap.from, %overlap.strip ], [ [[NEXT:%.*]], %{{.*}} ]
// CHECK: fmuladd
// CHECK: icmp eq i64 [[NEXT]], %overlap.to
// CHECK-LABEL: @k(
// CHECK: call {{.*}}i32 @overlap.poll
// CHECK: %overlap.pass = phi i64
// CHECK: fmuladd
