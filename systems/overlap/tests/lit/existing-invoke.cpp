// In C++ the program's own start and wait stand in a scope with a destructor; the wait stays before a call that may throw.
// RUN: %set %openmpi++ %s | FileCheck %s
// RUN: %set %mpich++ %s | FileCheck %s
#include "mpi.h"
struct Guard {
  ~Guard();
};
void may_throw();
void f(double *__restrict a, double *__restrict x) {
  Guard guard;
  MPI_Request request;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(x, 100);
  may_throw();
}
// What only MPI's calls could have thrown to calls MPI, too.
void g(double *__restrict a, double *__restrict x) {
  MPI_Request request;
  try {
    MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    work(x, 100);
  } catch (...) {
    MPI_Send(x, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    work(a, 8);
  }
}
// CHECK: MPI_Wait widened
// CHECK: MPI_Wait widened
// CHECK-LABEL: @_Z1fPdS_(
// CHECK-NOT: invoke
// CHECK: call i32 @MPI_Irecv
// CHECK: fmul
// CHECK: call i32 @MPI_Wait
// CHECK: invoke void @_Z9may_throwv
// CHECK-LABEL: @_Z1gPdS_(
// CHECK: call i32 @MPI_Irecv
// CHECK: fmul
// CHECK: call i32 @MPI_Wait
