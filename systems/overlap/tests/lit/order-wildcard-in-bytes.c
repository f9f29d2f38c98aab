// A table of small numbers may hold the wildcard; it is no text.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
static double a[8], b[8], x[100];
static signed char from[4] = {1, MPI_ANY_SOURCE, 2, 0};
int main(int argc, char **argv) {
  from[3] = argc;
  MPI_Recv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(b, 8, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD);
  work(x, 100);
  MPI_Recv(a, 8, MPI_DOUBLE, from[argc], 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return 0;
}
// CHECK-LABEL: @main(
// CHECK: start.MPI_Recv
// CHECK-NOT: start.MPI_Send
// CHECK: call void @overlap.wait
// CHECK: start.MPI_Send
