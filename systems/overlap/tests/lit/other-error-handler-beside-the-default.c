// One call that sets another handler is enough: what moves without asking stays.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, MPI_Errhandler handler) {
  MPI_Request request;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Isend(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(x, 100);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
// Nor where a call stands beside it that asks.
void g(double *restrict a, double *restrict b, double *restrict x) {
  MPI_Request request;
  MPI_Isend(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(x, 100);
  MPI_Send(b, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: MPI_Send made nonblocking
// CHECK-NOT: MPI_Wait widened
// CHECK-LABEL: @f(
// CHECK: call {{.*}}@MPI_Isend
// CHECK-NEXT: call {{.*}}@MPI_Wait
// CHECK-LABEL: @g(
// CHECK: call {{.*}}@MPI_Isend
// CHECK-NEXT: call {{.*}}@MPI_Wait
