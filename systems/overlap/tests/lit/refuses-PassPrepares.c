// Each pass packs its message first.
// RUN: %set,min-weight=50 %openmpi %s | FileCheck %s
// RUN: %set,min-weight=50 %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int n) {
  for (int i = 0; i < n; i++) {
    a[0] = x[i];
    MPI_Sendrecv_replace(a, 8, MPI_DOUBLE, 1, 0, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    x[0] += a[0];
    work(x, 100);
  }
}
// CHECK: MPI_Sendrecv_replace stays blocking: PassPrepares:
