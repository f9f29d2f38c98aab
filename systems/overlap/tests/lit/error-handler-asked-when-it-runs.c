// Which error handler a communicator has, a start asks when it runs: if an error does not end the program, it makes the call.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, MPI_Errhandler handler) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK-NOT: @__overlap_off = weak
// CHECK: MPI_Send made nonblocking
// CHECK-LABEL: define internal i32 @overlap.start.MPI_Send(
// CHECK: call i32 @overlap.ends_on_error(
// CHECK: call i32 @MPI_Isend(
// CHECK: call i32 @MPI_Send(
// CHECK-LABEL: define internal {{.*}}i32 @overlap.ends_on_error(
// CHECK: call i32 @MPI_Comm_get_errhandler(
