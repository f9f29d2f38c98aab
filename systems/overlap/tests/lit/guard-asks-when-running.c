// Whether the second message meets the first is known when the program runs; constants need no question.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *a, double *b, double *restrict x, int n) {
  MPI_Recv(a, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(b, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work(x, n);
}
void g(double *a, double *restrict x, int n) {
  MPI_Recv(a, 10, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(a + 10, 10, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work(x, n);
}
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Recv(
// CHECK: call void @overlap.guard(ptr {{.*}}, i32 1, ptr
// CHECK-NEXT: call i32 @overlap.start.MPI_Recv(
// CHECK: fmul
// CHECK: call void @overlap.wait(
// CHECK: call void @overlap.wait(
// CHECK-LABEL: @g(
// CHECK-NOT: overlap.guard
// CHECK: ret void
