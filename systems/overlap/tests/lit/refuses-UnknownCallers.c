// A function whose address is taken may be called by one rank only.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
static double a[100], x[100];
__attribute__((noinline)) static void f(void) {
  MPI_Bcast(a, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(x, 100);
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  void (*volatile g)(void) = f;
  g();
}
// CHECK: stays blocking: UnknownCallers:
