// Buffers that change places and a number from memory are read for the next pass before the work.
// RUN: %set %openmpi -fno-discard-value-names %s | FileCheck %s
// RUN: %set %mpich -fno-discard-value-names %s | FileCheck %s
#include "mpi.h"
extern int from;
void f(double *restrict a, double *restrict b, double *restrict x, int n) {
  double *now = a, *then = b;
  for (int i = 0; i < n; i++) {
    MPI_Recv(now, 8, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    x[0] += now[0];
    work(x, 100);
    double *swap = now;
    now = then;
    then = swap;
  }
}
// CHECK: MPI_Recv made nonblocking with frontier: {{.*}} started one pass of the loop ahead
// CHECK-LABEL: @f(
// CHECK: %[[FIRST:.*]] = load i32, ptr @from
// CHECK: call i32 @overlap.start.MPI_Recv(ptr %a, {{.*}} i32 %[[FIRST]], i32 0,
// CHECK: %[[NEXT:.*]] = load i32, ptr @from
// CHECK: call i32 @overlap.start.MPI_Recv(ptr %[[THEN:.*]], i32 8, {{.*}} i32 %[[NEXT]], i32 0,
// CHECK: %now{{.*}} = phi ptr [ %[[THEN]], %{{.*}} ], [ %a,
// CHECK: call void @overlap.wait
// CHECK: fmul
