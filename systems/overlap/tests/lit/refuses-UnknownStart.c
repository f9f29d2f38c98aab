// The datatype is a variable, so the extent of the buffer is not known.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, MPI_Datatype *type) {
  MPI_Request request;
  MPI_Irecv(MPI_BOTTOM, 8, *type, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(x, 100);
}
// CHECK: MPI_Wait stays where it is: UnknownStart:
// CHECK-LABEL: @f(
// CHECK: call i32 @MPI_Wait
// CHECK: fmul
