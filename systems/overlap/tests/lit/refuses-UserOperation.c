// A function of the user could run while the call is pending.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
int main(int argc, char **argv) {
  static double a[100], b[100], x[100];
  extern MPI_Op op;
  MPI_Init(&argc, &argv);
  MPI_Allreduce(a, b, 100, MPI_DOUBLE, op, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: stays blocking: UserOperation:
