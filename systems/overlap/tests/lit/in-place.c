// MPI_IN_PLACE is no buffer; what is received is.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
int main(int argc, char **argv) {
  static double a[100], x[100];
  MPI_Init(&argc, &argv);
  MPI_Allreduce(MPI_IN_PLACE, a, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work(x, 100);
  a[0] += x[99];
  MPI_Finalize();
  return a[0] > 0;
}
// CHECK: MPI_Allreduce made nonblocking
// CHECK: start.MPI_Allreduce
// CHECK: fmul
// CHECK: call void @overlap.wait
