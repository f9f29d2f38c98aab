// Every communicator has this error handler anyway, so nothing stays because of it.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
int f(double *restrict a, double *restrict x) {
  MPI_Request request;
  int code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Isend(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(x, 100);
  return code;
}
// CHECK: MPI_Wait widened
