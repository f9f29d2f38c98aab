// A short innermost loop alone has no poll.
// RUN: %set,progress=on %openmpi  %s | FileCheck %s
// RUN: %set,progress=on %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int n) {
  MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, n);
}
// CHECK: 0 polls
// CHECK-NOT: @overlap.poll
