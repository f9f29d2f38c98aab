// A copy of a column does not know which bytes belong to it.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int n) {
  MPI_Datatype column;
  MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  MPI_Sendrecv_replace(a, 1, column, 1, 0, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work(x, 100);
}
// CHECK: stays blocking: ReplacesBuffer:
