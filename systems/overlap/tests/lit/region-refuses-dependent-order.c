// Two loops that share memory keep their order, even if only the first needs the message.
// RUN: %set,strength=extended %openmpi  %s | FileCheck %s
// RUN: %set,strength=extended %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  MPI_Recv(a, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 100; i++)
    x[i] = a[i] - 7;
  for (int i = 1; i < 100; i++)
    x[i] = x[i] * 0.5 + x[i - 1];
}
// CHECK: MPI_Recv stays blocking: SmallWindow
// CHECK-LABEL: @f(
// CHECK: fadd double %{{.*}}, -7.0
// CHECK: fmul
