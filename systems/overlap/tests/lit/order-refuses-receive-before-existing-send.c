// A receive ends before a send of the program's own starts, also where that send is waited for
// together with a receive.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
int MPI_Waitall(int, MPI_Request *, MPI_Status *);
void f(double *restrict a, double *restrict b, double *restrict c, double *restrict x) {
  MPI_Request requests[2];
  MPI_Recv(c, 8, MPI_DOUBLE, 3, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  a[0] = b[0] = 3;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(b, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, (MPI_Status *)0);
  work(x, 100);
}
// CHECK-LABEL: @f(
// CHECK: start.MPI_Recv
// CHECK: call void @overlap.wait
// CHECK: call i32 @MPI_Isend
// CHECK: fmul
// CHECK: call i32 @MPI_Waitall
