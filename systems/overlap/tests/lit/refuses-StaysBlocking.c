// Barrier and Ssend synchronise; that is what they are for.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Ssend(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: MPI_Barrier stays blocking
// CHECK: stays blocking: StaysBlocking:
