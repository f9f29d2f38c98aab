// A loop that uses the buffer is one statement of the slice and moves behind a loop that does not.
// RUN: %set,strength=extended %openmpi  %s | FileCheck %s
// RUN: %set,strength=extended %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  MPI_Recv(a, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 100; i++)
    a[i] = a[i] - 7;
  for (int i = 1; i < 100; i++)
    x[i] = x[i] * 0.5 + x[i - 1];
}
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Recv
// CHECK-NEXT: load double, ptr %1
// CHECK: [[FIRST:[0-9]+]]:
// CHECK: fadd double %{{.*}}, -7.0
// CHECK: call void @overlap.wait
// CHECK-NEXT: br label %[[FIRST]]
