// Without main it is not known that every rank comes here.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x) {
  MPI_Bcast(a, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: stays blocking: NoMain:
