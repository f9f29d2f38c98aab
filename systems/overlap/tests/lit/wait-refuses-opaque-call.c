// A call that could do anything is not passed.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void other(void);
void f(double *restrict a, double *restrict x) {
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  x[0] = 3;
  other();
}
// CHECK-LABEL: @f(
// CHECK: start.MPI_Send
// CHECK: store double 3.0
// CHECK: call void @overlap.wait
// CHECK-NEXT: {{.*}}@other
