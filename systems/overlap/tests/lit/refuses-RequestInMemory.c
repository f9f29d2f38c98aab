// The requests are in a struct, or belong to the caller: whatever started them is not known here.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
struct halo {
  double *in, *out;
  MPI_Request requests[2];
};
void members(struct halo *h, double *restrict x) {
  MPI_Irecv(h->in, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h->requests[0]);
  MPI_Isend(h->out, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h->requests[1]);
  for (int i = 0; i < 2; i++)
    MPI_Wait(&h->requests[i], MPI_STATUS_IGNORE);
  work(x, 100);
}
void of_the_caller(MPI_Request *request, double *restrict x) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
  work(x, 100);
}
// An answer that is asked for is no wait.
int asks(MPI_Request *request) {
  int there;
  MPI_Test(request, &there, MPI_STATUS_IGNORE);
  return there;
}
// CHECK: c:[[#]]:{{.*}}MPI_Wait stays where it is: RequestInMemory:
// CHECK: c:[[#]]:{{.*}}MPI_Wait stays where it is: RequestInMemory:
// CHECK-NOT: stays where it is
// CHECK-LABEL: @members(
// CHECK: call i32 @MPI_Wait
// CHECK: fmul
