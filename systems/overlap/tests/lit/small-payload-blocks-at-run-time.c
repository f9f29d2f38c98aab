// Where the count is not known, the start decides: small payloads block.
// RUN: %set,min-bytes=4096 %openmpi  %s | FileCheck %s
// RUN: %set,min-bytes=4096 %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int n) {
  MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK-LABEL: define internal i32 @overlap.start.MPI_Send
// CHECK: icmp {{sge|sgt}} i64 {{.*}}, {{4096|4095}}
// CHECK-DAG: @MPI_Isend
// CHECK-DAG: @MPI_Send
