// How long a message is follows from the pass of the loop that starts it: it is the pending one if
// the same pass ends it. A message that may be of the pass before has another length.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void this_pass(double *u, double *restrict v, int n, const int *lengths) {
  for (int step = 0; step < n; step++) {
    MPI_Request request;
    int length = lengths[step];
    MPI_Irecv(u, length, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (long i = 0; i < 10000; i++)
      v[i] = 0.5 * u[i];
  }
}
void pass_before(double *u, double *restrict v, int n, const int *lengths) {
  MPI_Request request;
  int length = lengths[0];
  MPI_Irecv(u, length, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &request);
  for (int step = 0; step < n; step++) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (long i = 0; i < 10000; i++)
      v[i] = 0.5 * u[i];
    length = lengths[step];
    MPI_Irecv(u, length, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &request);
  }
}
// CHECK: MPI_Wait widened {{.*}} 1 loops split
// CHECK: MPI_Wait stays where it is
// CHECK-LABEL: @pass_before(
// CHECK-NOT: interior
// CHECK: call i32 @MPI_Wait(
// CHECK: fmul
