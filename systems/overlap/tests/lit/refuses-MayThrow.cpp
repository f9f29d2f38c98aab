// An error handler of another file may throw, and who waits in a `try`, or owns what must be destroyed, sees it. A wait has no
// communicator to ask about, so the program's own stays.
// RUN: %set %openmpi++ %s | FileCheck %s
// RUN: %set %mpich++ %s | FileCheck %s
#include "mpi.h"
struct Guard {
  ~Guard();
};
void f(double *__restrict a, double *__restrict x) {
  Guard guard;
  MPI_Request request;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(x, 100);
}
int g(double *__restrict a, double *__restrict x) {
  try {
    MPI_Request request;
    MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    work(x, 100);
  } catch (...) {
    return 1;
  }
  return 0;
}
// CHECK: MPI_Wait stays where it is: MayThrow
// CHECK: MPI_Wait stays where it is: MayThrow
// CHECK-LABEL: @_Z1fPdS_(
// CHECK: invoke {{.*}}@MPI_Irecv
// CHECK: invoke {{.*}}@MPI_Wait
// CHECK-LABEL: @_Z1gPdS_(
// CHECK: invoke {{.*}}@MPI_Irecv
// CHECK: invoke {{.*}}@MPI_Wait
