// An error handler of another file may throw, and who waits in a `try`, or owns what must be destroyed, sees it. A wait has no
// communicator to ask about, and where those of its starts are not known it stays.
// RUN: %set %openmpi++ %s | FileCheck %s
// RUN: %set %mpich++ %s | FileCheck %s
#include "mpi.h"
struct Guard {
  ~Guard();
};
// Who started it is not known.
void f(MPI_Request *request, double *__restrict x) {
  Guard guard;
  MPI_Wait(request, MPI_STATUS_IGNORE);
  work(x, 100);
}
// The communicator is known to one way only.
MPI_Comm other();
int g(double *__restrict a, double *__restrict x, int mine) {
  try {
    MPI_Request request = 0;
    if (mine)
      MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, other(), &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    work(x, 100);
  } catch (...) {
    return 1;
  }
  return 0;
}
// CHECK: MPI_Wait stays where it is: MayThrow
// CHECK: MPI_Wait stays where it is: MayThrow
// CHECK-LABEL: @_Z1f
// CHECK-NOT: overlap.
// CHECK: invoke {{.*}}@MPI_Wait
// CHECK: fmul
// CHECK-LABEL: @_Z1gPdS_i(
// CHECK-NOT: overlap.
// CHECK: invoke {{.*}}@MPI_Irecv
// CHECK-NOT: overlap.
// CHECK: invoke {{.*}}@MPI_Wait
