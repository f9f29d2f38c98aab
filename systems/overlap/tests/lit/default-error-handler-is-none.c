// Every communicator has this error handler anyway. The call loses its name, so that the linked program is not taken for
// one that goes on after errors.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
int f(double *restrict a, double *restrict x) {
  int code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
  return code;
}
// CHECK-NOT: UserErrorHandler
// CHECK: MPI_Send made nonblocking
// CHECK-NOT: @MPI_Comm_set_errhandler
// CHECK: c"MPI_Comm_set_errhandler\00"
// CHECK: call ptr @dlsym(
