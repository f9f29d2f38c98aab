// One call that sets another handler is enough, and the default is then set by its name as before.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, MPI_Errhandler handler) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
// CHECK: stays blocking: UserErrorHandler:
// CHECK: call {{.*}}@MPI_Comm_set_errhandler
// CHECK: call {{.*}}@MPI_Comm_set_errhandler
