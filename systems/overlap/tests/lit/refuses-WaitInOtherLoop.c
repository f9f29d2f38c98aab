// Messages started one by one are ended in a loop, in the order in which they come.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int n) {
  MPI_Request requests[8];
  int which;
  for (int i = 0; i < 8; i++)
    MPI_Irecv(a + 100 * i, 100, MPI_DOUBLE, i, 0, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < n; i++) {
    MPI_Waitany(8, requests, &which, MPI_STATUS_IGNORE);
    x[which] = a[100 * which];
  }
  work(x, 100);
}
// CHECK: MPI_Waitany stays where it is: WaitInOtherLoop:
