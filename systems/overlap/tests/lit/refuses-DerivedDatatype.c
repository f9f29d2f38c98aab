// The extent of a datatype made by the program is not known.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, MPI_Datatype type) {
  MPI_Send(a, 8, type, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: stays blocking: DerivedDatatype:
