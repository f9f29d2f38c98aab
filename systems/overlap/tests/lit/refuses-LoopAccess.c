// The loop reads the buffer at places that come from memory.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *u, double *restrict v, const int *restrict at, int n, int m) {
  MPI_Recv(u, m, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; i++)
    v[i] = u[at[i]];
}
// CHECK: LoopAccess
// CHECK-NOT: overlap.interior
