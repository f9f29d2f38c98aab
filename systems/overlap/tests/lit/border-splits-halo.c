// One loop over all rows, whose first and last need the neighbours' rows: interior, waits, border.
// RUN: %set %openmpi -fno-discard-value-names %s | FileCheck %s
// RUN: %set %mpich -fno-discard-value-names %s | FileCheck %s
#include "mpi.h"
void f(double *u, double *restrict v, int rows, int n, int up, int down) {
  MPI_Recv(u, n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(u + (rows + 1) * (long)n, n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (long i = 1; i <= rows; i++)
    for (long j = 0; j < n; j++)
      v[i * n + j] = 0.5 * (u[(i - 1) * n + j] + u[(i + 1) * n + j]);
}
// CHECK: MPI_Recv made nonblocking with frontier: {{.*}} 1 loops split into interior and border
// CHECK: MPI_Recv made nonblocking with frontier: {{.*}} 1 loops split into interior and border
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Recv
// CHECK: call void @overlap.guard(
// CHECK-NEXT: call i32 @overlap.start.MPI_Recv
// CHECK: %overlap.first = select
// CHECK: %overlap.last = select
// CHECK: br i1 %{{[0-9]+}}, label %[[INTERIOR:.*interior]], label %overlap.border
// CHECK: overlap.border:
// CHECK-NEXT: call void @overlap.wait(
// CHECK-NEXT: call void @overlap.wait(
// CHECK: [[INTERIOR]]:
// CHECK: %mul{{[0-9]+}}.interior = fmul
// CHECK: %mul{{[0-9]+}}.rest = fmul
