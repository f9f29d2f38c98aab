// Which level of threads there is, a start asks when it runs, once. What moves without asking stays where the level is not known.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
// RUN: %set %openmpi  %s | FileCheck --check-prefix=OPEN %s
// RUN: %set %openmpi -DLEVEL=2 %s | FileCheck --check-prefix=KNOWN %s
#include "mpi.h"
#ifndef LEVEL
#define LEVEL level
#endif
void f(double *restrict a, double *restrict x, int level) {
  int provided;
  MPI_Init_thread(0, 0, LEVEL, &provided);
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
void g(double *restrict a, double *restrict x) {
  MPI_Request request;
  MPI_Isend(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(x, 100);
}
// CHECK-NOT: @__overlap_off = weak
// CHECK-NOT: MPI_Wait widened
// CHECK: MPI_Send made nonblocking
// CHECK-NOT: MPI_Wait widened
// CHECK-LABEL: define internal i32 @overlap.start.MPI_Send(
// CHECK: call i32 @overlap.open(
// CHECK: call i32 @MPI_Isend(
// CHECK: call i32 @MPI_Send(
// CHECK-LABEL: define internal {{.*}}i32 @overlap.is_alone(
// CHECK: call i32 @MPI_Query_thread(
// OPEN-LABEL: define internal {{.*}}i32 @overlap.open(
// OPEN: call i32 @overlap.is_alone(
// KNOWN-DAG: MPI_Send made nonblocking
// KNOWN-DAG: MPI_Wait widened
