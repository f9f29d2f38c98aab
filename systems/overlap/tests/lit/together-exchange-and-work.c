// An exchange and a stencil are functions of their own, in which nothing could move: they become
// parts of the function that calls both. What nobody calls any more goes.
// RUN: %set %openmpi -fno-discard-value-names %s | FileCheck %s
// RUN: %set %mpich -fno-discard-value-names %s | FileCheck %s
#include "mpi.h"
int MPI_Waitall(int, MPI_Request *, MPI_Status *);
#define ROW 1000
#define APART __attribute__((noinline)) static
APART void swap(double *u, long n) {
  MPI_Request q[2];
  MPI_Irecv(u, ROW, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &q[0]);
  MPI_Isend(u + n * ROW, ROW, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &q[1]);
  MPI_Waitall(2, q, (MPI_Status *)0);
}
APART void average(double *v, const double *u, long n) {
  for (long i = ROW; i < n * ROW; i++)
    v[i] = 0.5 * (u[i - ROW] + u[i]);
}
void own(double *u, double *v, long n) {
  swap(u, n);
  average(v, u, n);
}
// Two ranks send to each other, through one wrapper more.
APART void both(double *u, long n) {
  MPI_Sendrecv(u + n * ROW, ROW, MPI_DOUBLE, 1, 1, u, ROW, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}
APART void wrapper(double *u, long n) { both(u, n); }
APART void half(double *v, const double *u, long n) {
  for (long i = ROW; i < n * ROW; i++)
    v[i] = 0.25 * (u[i - ROW] + u[i]);
}
void blocking(double *u, double *v, long n) {
  wrapper(u, n);
  half(v, u, n);
}
// CHECK: MPI_Sendrecv made nonblocking {{.*}} 1 loops split
// CHECK: MPI_Waitall widened {{.*}} 1 loops split
// CHECK-NOT: @swap(
// CHECK-NOT: @average(
// CHECK-LABEL: @own(
// CHECK: call i32 @MPI_Isend
// CHECK: overlap.border:
// CHECK-NEXT: call i32 @MPI_Waitall
// CHECK-LABEL: @blocking(
// CHECK: call i32 @overlap.start.MPI_Sendrecv
// CHECK: overlap.border:
// CHECK-NEXT: call void @overlap.wait
