// What is sent is copied, so that the buffer can be received into.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int n) {
  MPI_Sendrecv_replace(a, n, MPI_DOUBLE, 1, 0, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work(x, 100);
  x[0] = a[0];
}
// CHECK: MPI_Sendrecv_replace made nonblocking
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Sendrecv_replace(
// CHECK: fmul
// CHECK: call void @overlap.wait(
// CHECK: define internal i32 @overlap.start.MPI_Sendrecv_replace(ptr [[BUF:%[0-9a-z]+]],
// CHECK: [[COPY:%.*]] = {{.*}}call {{.*}}@malloc
// CHECK: call void @llvm.memcpy{{.*}}[[COPY]], ptr{{.*}} [[BUF]]
// CHECK: call i32 @MPI_Irecv(ptr [[BUF]],
// CHECK: call i32 @MPI_Isend(ptr{{.*}} [[COPY]],
// CHECK: define internal void @overlap.wait(
// CHECK: call void @free(
