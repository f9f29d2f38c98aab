// While nothing is pending, a loop that starts nothing is one strip: it asks once for all its passes. Else its strips have as many passes
// as are left until the next poll, and at least one. A loop that calls what may start something asks at the end of each pass,
// which costs little beside a call, and is not cut. The length of a strip is hidden from the analyses of loops.
// RUN: %set,progress=auto,convert=none %openmpi -fno-inline -fno-unroll-loops %s | FileCheck %s
// RUN: %set,progress=auto,convert=none %mpich -fno-inline -fno-unroll-loops %s | FileCheck %s
#include "mpi.h"
// CHECK-LABEL: @scale(
// CHECK: [[PENDING:%.*]] = load i32, ptr {{.*}}
// CHECK: [[LEFT:%.*]] = load i32, ptr @overlap.place
// CHECK: call i32 @llvm.smax.i32(i32 [[LEFT]], i32 1)
// CHECK: [[SOME:%.*]] = icmp sgt i32 [[PENDING]], 0
// CHECK: select i1 [[SOME]], i64 {{.*}}
// CHECK: call i64 asm "", "=r,0"(i64 {{.*}})
// CHECK-NOT: icmp sgt i32
// CHECK-LABEL: @rows(
void scale(double *restrict y, const double *restrict x, int n) {
  for (int i = 0; i < n; i++)
    y[i] *= x[i];
}
// CHECK: [[PENDING:%.*]] = load i32, ptr {{.*}}
// CHECK: [[LEFT:%.*]] = load i32, ptr @overlap.place
// CHECK: call i32 @llvm.smax.i32(i32 [[LEFT]], i32 1)
// CHECK: [[SOME:%.*]] = icmp sgt i32 [[PENDING]], 0
// CHECK: select i1 [[SOME]], i64 {{.*}}
void rows(double *restrict y, const double *restrict a, const int *restrict row, int n) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = row[i]; k < row[i + 1]; k++)
      s += a[k];
    y[i] = s;
  }
}
// CHECK-LABEL: @starts(
// CHECK-DAG: call void @exchange(
// CHECK-DAG: call {{.*}}void @__overlap_poll_after(ptr {{.*}}, i32 1, i64 100000)
// CHECK-NOT: select i1
// CHECK-NOT: asm ""
// CHECK-LABEL: @last(
void exchange(double *);
void starts(double *restrict y, const int *restrict row, int n) {
  for (int i = 0; i < n; i++) {
    exchange(y + i);
    for (int k = row[i]; k < row[i + 1]; k++)
      y[k] += 1;
  }
}
void last(void) {}
