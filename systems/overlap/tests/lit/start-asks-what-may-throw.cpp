// Where an error handler of whatever file may throw, a start asks; it starts nothing if one can, and the call is made where it was
// written, so that what is destroyed or caught sees it.
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
  work(x, 50);
  try {
    MPI_Recv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work(x, 100);
  } catch (...) {
    return 1;
  }
  return 0;
}
// Where the function itself throws nothing, what catches ends the program.
void h(double *__restrict a, double *__restrict x) noexcept {
  Guard guard;
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: MPI_Send made nonblocking
// CHECK: MPI_Recv made nonblocking
// CHECK: MPI_Send made nonblocking
// CHECK-LABEL: @_Z1fPdS_(
// CHECK: call i32 @overlap.start.MPI_Send.asks(
// CHECK: br i1
// CHECK: invoke {{.*}}@MPI_Send(
// CHECK: call void @overlap.done(
// CHECK: fmul
// CHECK: call void @overlap.wait(
// CHECK-LABEL: @_Z1gPdS_(
// It starts before the work in front of it, and is made behind that.
// CHECK: call i32 @overlap.start.MPI_Recv.asks(
// CHECK: fmul
// CHECK: invoke {{.*}}@MPI_Recv(
// CHECK: fmul
// CHECK: call void @overlap.wait(
// CHECK-LABEL: @_Z1hPdS_(
// CHECK: call i32 @overlap.start.MPI_Send.asks(
// CHECK: invoke {{.*}}@MPI_Send(
// The answer is no before anything is started, and no small message throws out of the helper either.
// CHECK-LABEL: define internal {{.*}}i32 @overlap.start.MPI_Send.asks(
// CHECK: call i32 @overlap.ends_on_error(
// CHECK: call i32 @MPI_Isend(
// CHECK: call i32 @MPI_Send(
