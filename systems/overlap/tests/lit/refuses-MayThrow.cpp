// Another file may set an error handler that throws: what is destroyed or caught then has to see it.
// RUN: %set %openmpi++ %s | FileCheck %s
// RUN: %set %mpich++ %s | FileCheck %s
#include "mpi.h"
struct Guard {
  ~Guard();
};
void f(double *__restrict a, double *__restrict x) {
  Guard guard;
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
int g(double *__restrict a, double *__restrict x) {
  try {
    MPI_Recv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work(x, 100);
  } catch (...) {
    return 1;
  }
  return 0;
}
// CHECK: MPI_Send stays blocking: MayThrow: an error handler set in another file may throw
// CHECK: MPI_Recv stays blocking: MayThrow: an error handler set in another file may throw
// CHECK-LABEL: @_Z1fPdS_(
// CHECK: invoke {{.*}}@MPI_Send
// CHECK-LABEL: @_Z1gPdS_(
// CHECK: invoke {{.*}}@MPI_Recv
