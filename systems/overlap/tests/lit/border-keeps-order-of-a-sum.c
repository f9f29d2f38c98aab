// A sum passes from one pass to the next, so the first passes never come after the interior.
// RUN: %set %openmpi -fno-discard-value-names %s | FileCheck %s
// RUN: %set %mpich -fno-discard-value-names %s | FileCheck %s
#include "mpi.h"
double f(double *u, int n, int m) {
  double sum = 0;
  MPI_Recv(u + n, m, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (long i = 0; i < n + m; i++)
    sum = sum * 0.5 + u[i];
  return sum;
}
// CHECK: 1 loops split into interior and border
// CHECK-LABEL: @f(
// CHECK: [[HIT:%.*]] = icmp eq i64 %{{.*}}, 0
// CHECK: %overlap.first = select
// CHECK: overlap.border:
// CHECK: phi double [ 0.0{{.*}}, %{{.*}} ], [ [[SUM:%[0-9]+]], %{{.*}}interior ]
// CHECK: call void @overlap.wait(
// CHECK: [[SUM]] = call double @llvm.fmuladd
