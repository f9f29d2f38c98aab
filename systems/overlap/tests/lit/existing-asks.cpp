// The program's own start and wait stand in a scope with a destructor and in a `try`. Another file may set a handler that throws, so
// the wait asks when it runs: where an error would throw it is made where it stands, else further down.
// RUN: %set %openmpi++ %s | FileCheck %s
// RUN: %set %mpich++ %s | FileCheck %s
#include "mpi.h"
struct Guard {
  ~Guard();
};
void f(double *__restrict a, double *__restrict x, MPI_Comm comm) {
  Guard guard;
  MPI_Request requests[2];
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, comm, &requests[0]);
  MPI_Irecv(a + 8, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUS_IGNORE);
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
// CHECK: MPI_Waitall widened
// CHECK: MPI_Wait widened
// CHECK-LABEL: @_Z1fPdS_
// CHECK: invoke {{.*}}@MPI_Irecv
// CHECK: invoke {{.*}}@MPI_Irecv
// CHECK: call i32 @overlap.ends_on_error
// CHECK: call i32 @overlap.ends_on_error
// CHECK: invoke {{.*}}@MPI_Waitall
// CHECK: fmul
// CHECK: call void @overlap.end.MPI_Waitall
// CHECK: call {{.*}}GuardD
// CHECK-LABEL: @_Z1gPdS_(
// CHECK: invoke {{.*}}@MPI_Irecv
// CHECK: invoke {{.*}}@MPI_Wait
// CHECK: fmul
// CHECK: call void @overlap.end.MPI_Wait(
