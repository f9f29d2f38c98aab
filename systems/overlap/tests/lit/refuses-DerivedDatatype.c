// A type with addresses may name any memory, and so may one from elsewhere.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, MPI_Datatype type) {
  MPI_Send(a, 8, type, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
void g(double *restrict a, double *restrict x, const int *lengths, const long *places) {
  MPI_Datatype type;
  MPI_Type_create_hindexed(3, lengths, places, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Send(a, 1, type, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: stays blocking: DerivedDatatype:
// CHECK: stays blocking: DerivedDatatype:
