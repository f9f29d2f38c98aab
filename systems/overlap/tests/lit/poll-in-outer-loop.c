// A poll stands in the loop around the innermost one, which stays as it is. The loop runs in strips of as many passes as may
// go by until the next poll, so that nobody counts them; a loop whose length is not known when it begins counts its passes.
// RUN: %set,progress=on %openmpi -fno-discard-value-names %s | FileCheck %s
// RUN: %set,progress=on %mpich -fno-discard-value-names %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int n) {
  MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  for (int j = 3; j < n; j++)
    for (int i = 1; i < n; i++)
      x[i] = x[i] * 0.5 + x[i - 1] + x[i + 1] * 3;
}
void g(double *restrict a, double *restrict x, int n) {
  MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  do
    for (int i = 1; i < n; i++)
      x[i] = x[i] * 0.5 + x[i - 1] + x[i + 1] * 3;
  while (x[n] < 1);
}
// CHECK: MPI_Send made nonblocking {{.*}} 1 polls
// CHECK: MPI_Send made nonblocking {{.*}} 1 polls
// CHECK-LABEL: @f(
// CHECK: overlap.strip:
// CHECK: [[PASSES:%.*]] = phi i32 [ [[NEW:%.*]], %{{.*}} ], [ 1, %{{.*}} ]
// CHECK: %overlap.from = phi i32 [ %overlap.to, %{{.*}} ], [ 3, %{{.*}} ]
// CHECK: [[REST:%.*]] = sub i32 %n, %overlap.from
// CHECK: [[LESS:%.*]] = call i32 @llvm.umin.i32(i32 [[PASSES]], i32 [[REST]])
// CHECK: [[STEP:%.*]] = call i32 asm "", "=r,0"(i32 [[LESS]])
// CHECK: %overlap.to = add i32 %overlap.from, [[STEP]]
// CHECK: [[J:%.*]] = phi i32 [ [[NEXT:%.*]], %{{.*}} ], [ %overlap.from, %overlap.strip ]
// CHECK: overlap.strip.next:
// CHECK: [[LEFT:%.*]] = sub i32 [[PASSES]], [[STEP]]
// CHECK: [[POLLED:%.*]] = call {{.*}}i32 @overlap.poll
// CHECK: [[NEW]] = phi i32 [ [[POLLED]], %{{.*}} ], [ [[LEFT]], %overlap.strip.next ]
// CHECK: [[NEXT]] = add nuw nsw i32 [[J]], 1
// CHECK-NEXT: icmp eq i32 [[NEXT]], %overlap.to
// CHECK-LABEL: @g(
// CHECK-NOT: overlap.strip
// CHECK: add i32 %overlap.passes{{.*}}, -1
// CHECK: call {{.*}}i32 @overlap.poll
// CHECK: define internal {{.*}}i32 @overlap.poll
// CHECK: @MPI_Test
