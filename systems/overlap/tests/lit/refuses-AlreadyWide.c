// Nothing is left to put between the program's own start and its wait.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  MPI_Request request;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  work(x, 100);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  a[0] = 1;
}
// CHECK: MPI_Wait stays where it is: AlreadyWide: its window is as wide as it can be
