// A request that is also tested is left alone.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
int MPI_Test(MPI_Request *, int *, MPI_Status *);
void f(double *restrict a, double *restrict x) {
  MPI_Request request;
  int flag;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(x, 100);
}
// CHECK-NOT: MPI_Wait widened
// CHECK-LABEL: @f(
// CHECK: call i32 @MPI_Wait
// CHECK: fmul
