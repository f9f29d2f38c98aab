// A function of another file could hold a call that matches.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
static double a[100], x[100];
void other(void);
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  other();
  MPI_Bcast(a, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: stays blocking: OpaqueProgram:
