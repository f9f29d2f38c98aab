// Another function may wait for the request.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void elsewhere(MPI_Request *);
void f(double *restrict a, double *restrict x) {
  MPI_Request request;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  elsewhere(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(x, 100);
}
// CHECK: MPI_Wait stays where it is: RequestEscapes:
// CHECK-LABEL: @f(
// CHECK: call i32 @MPI_Wait
// CHECK: fmul
