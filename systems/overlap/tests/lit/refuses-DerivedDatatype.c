// A type with addresses may name any memory.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void g(double *restrict a, double *restrict x, const int *lengths, const long *places) {
  MPI_Datatype type;
  MPI_Type_create_hindexed(3, lengths, places, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Send(a, 1, type, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// The displacements are constants at first, and then received.
void h(double *restrict a, double *restrict x) {
  int lengths[2] = {1, 2};
  long places[2] = {0, 8};
  MPI_Datatype type;
  MPI_Recv(places, 4, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_create_hindexed(2, lengths, places, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Send(a, 1, type, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK-COUNT-2: MPI_Send stays blocking: DerivedDatatype:
