// The loop may end early, so which passes use the buffer is not known before it runs.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
double f(double *u, double *restrict v, int n, int m) {
  MPI_Recv(u + n, m, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < n + m; i++) {
    if (v[i] > 7)
      break;
    v[i] = u[i];
  }
  return v[0];
}
// CHECK: LoopExits
// CHECK-NOT: overlap.interior
