// No wait stands inside a loop that uses the buffer; it stands before the loop.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, double *restrict y, int n) {
  MPI_Recv(a, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work(x, 100);
  for (int i = 0; i < n; i++)
    y[i] = a[0] - 7;
}
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Recv
// CHECK: fmul
// CHECK: call void @overlap.wait
// CHECK: load double, ptr %
// The path that does not enter the loop has its own.
// CHECK: call void @overlap.wait
// CHECK-NEXT: ret void
// CHECK-NOT: overlap.wait
// CHECK: store double
// CHECK: }
