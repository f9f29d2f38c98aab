// What level is asked for is known when the program runs; the remark does not claim one.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
// A constant below the highest level is no reason.
// RUN: %set %openmpi -DLEVEL=2 %s | FileCheck --check-prefix=NONE %s
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
// CHECK-DAG: @__overlap_off = weak
// CHECK-DAG: stays blocking: ThreadLevelUnknown: the level of threads that the program asks for is known only when it runs
// NONE-NOT: @__overlap_off
// NONE: MPI_Send made nonblocking
