// The work at the end makes what the next pass sends.
// RUN: %set,min-weight=50 %openmpi %s | FileCheck %s
// RUN: %set,min-weight=50 %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict b, int n) {
  for (int i = 0; i < n; i++) {
    MPI_Sendrecv(a, 100, MPI_DOUBLE, 1, 0, b, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    a[0] += b[0];
    work(a, 100);
  }
}
// CHECK: MPI_Sendrecv stays blocking: PassUses:
