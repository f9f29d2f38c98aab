// A wait could be jumped over.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
#include <setjmp.h>
extern jmp_buf place;
void f(double *restrict a, double *restrict x) {
  if (setjmp(place))
    return;
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: stays blocking: ReturnsTwice:
