// Whether there is a next pass follows from the work.
// RUN: %set,min-weight=50 %openmpi %s | FileCheck %s
// RUN: %set,min-weight=50 %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  do {
    MPI_Recv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    x[0] += a[0];
    work(x, 100);
  } while (x[99] > 0.1);
}
// CHECK: MPI_Recv stays blocking: PassUnknown:
