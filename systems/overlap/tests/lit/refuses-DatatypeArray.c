// Datatypes in an array of the caller are not known.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict b, int *n, MPI_Datatype *types) {
  MPI_Alltoallw(a, n, n, types, b, n, n, types, MPI_COMM_WORLD);
}
// CHECK: stays blocking: DatatypeArray:
