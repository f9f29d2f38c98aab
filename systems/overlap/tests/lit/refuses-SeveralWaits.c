// Which of the two calls ends the message depends on the path.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int early) {
  MPI_Request request;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  if (early) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    x[0] = a[0];
  } else {
    x[0] = 7;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  work(x, 100);
}
// CHECK: MPI_Wait stays where it is: SeveralWaits:
