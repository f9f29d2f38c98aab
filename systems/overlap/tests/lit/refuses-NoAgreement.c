// Where ranks may pass lengths of their own, none knows from its own whether the others find the call large.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict b, int *n, MPI_Datatype *types, double *restrict x) {
  MPI_Gather(a, 100, MPI_DOUBLE, b, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Alltoallw(a, n, n, types, b, n, n, types, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: MPI_Gather stays blocking: NoAgreement:
// CHECK: MPI_Alltoallw stays blocking: NoAgreement:
