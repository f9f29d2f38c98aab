// The code of the call is the code of its start; asking for it moves no wait.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
int f(double *restrict a, double *restrict x) {
  int code = MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  if (code != 0)
    return code;
  work(x, 100);
  return 7;
}
// CHECK: MPI_Send made nonblocking
// CHECK-LABEL: @f(
// CHECK: %[[CODE:.*]] = call i32 @overlap.start.MPI_Send
// CHECK: icmp eq i32 %[[CODE]], 0
// CHECK: fmul
// CHECK: call void @overlap.wait
// CHECK: internal i32 @overlap.start.MPI_Send
// CHECK: %[[CODES:[0-9]+]] = phi i32 [ %[[STARTED:[0-9]+]], {{.*}} ], [ %[[SENT:[0-9]+]], {{.*}} ]
// CHECK: ret i32 %[[CODES]]
// CHECK-DAG: %[[STARTED]] = tail call i32 @MPI_Isend
// CHECK-DAG: %[[SENT]] = tail call i32 @MPI_Send(
