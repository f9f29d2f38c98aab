// The wait ends what the pass before has started, into the buffer that is `now` here.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
double f(double *now, double *next, double *x, int n, MPI_Request none) {
  double sum = 0;
  MPI_Request request;
  for (int k = 0; k <= n; k++) {
    if (k > 0)
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100; i++)
      sum = sum * 0.5 + now[i];
    if (k < n)
      MPI_Irecv(next, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    double *other = now;
    now = next;
    next = other;
  }
  return sum;
}
// CHECK: MPI_Wait stays where it is: WaitInLaterPass:
