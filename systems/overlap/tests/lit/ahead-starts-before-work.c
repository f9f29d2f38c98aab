// The message of the next pass starts before the work at the end of this one, if there is a next one.
// RUN: %set %openmpi -fno-discard-value-names %s | FileCheck %s
// RUN: %set %mpich -fno-discard-value-names %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int n) {
  for (int i = 0; i < n; i++) {
    MPI_Recv(a, 8, MPI_DOUBLE, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    x[0] += a[0];
    work(x, 100);
  }
}
// CHECK: MPI_Recv made nonblocking with frontier: {{.*}} started one pass of the loop ahead
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Recv({{.*}} i32 1, i32 0,
// CHECK: phi i32 [ %inc,
// CHECK: %[[END:.*]] = icmp eq i32 %inc, %n
// CHECK: call void @overlap.wait
// CHECK-NEXT: load double, ptr %a
// CHECK-NEXT: br i1 %[[END]], label %{{.*}}, label %[[NEXT:[0-9]+]]
// CHECK: [[NEXT]]:
// CHECK-NEXT: call i32 @overlap.start.MPI_Recv({{.*}} i32 1, i32 %inc,
// CHECK: fmul
// CHECK: br i1 %[[END]]
