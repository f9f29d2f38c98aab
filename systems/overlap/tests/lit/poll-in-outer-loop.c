// A poll stands in the loop around the innermost one, which stays as it is.
// RUN: %set,progress=on %openmpi  %s | FileCheck %s
// RUN: %set,progress=on %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int n) {
  MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  for (int j = 0; j < n; j++)
    for (int i = 1; i < n; i++)
      x[i] = x[i] * 0.5 + x[i - 1] + x[i + 1] * 3;
}
// CHECK: 1 polls
// CHECK-LABEL: @f(
// CHECK: call {{.*}}i32 @overlap.poll
// CHECK: define internal {{.*}}i32 @overlap.poll
// CHECK: @MPI_Test
