// A pointer that the program loads leads to no variable whose address only MPI has, such as a
// request or a status, so a loop through it needs no wait. Who else has the address may have put it
// there.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void elsewhere(MPI_Status *);
struct arrays {
  double *x;
};
static double *table;
void only(struct arrays *h, double *restrict a) {
  MPI_Request request;
  MPI_Status status;
  double *x = h->x;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  work(x, 100);
}
void told(struct arrays *h, double *restrict a) {
  MPI_Request request;
  MPI_Status status;
  elsewhere(&status);
  double *x = h->x;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  work(x, 100);
}
// How long it is where MPI writes is known of requests and statuses only: their addresses are compared when the program runs.
void told_which(struct arrays *h, double *restrict a, int *which) {
  MPI_Request request;
  double *x = h->x;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Waitany(1, &request, which, MPI_STATUS_IGNORE);
  work(x, 100);
}
// A variable of the file that is only loaded and stored by its name holds no message.
void set(double *to) { table = to; }
void named(double *a, double *restrict x) {
  MPI_Request request;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  x[0] = table != 0;
  work(x, 100);
}
// CHECK-DAG: :17:3: remark: MPI_Wait widened {{.*}} 1 loops split
// CHECK-DAG: :26:3: remark: MPI_Wait widened {{.*}} 1 loops split
// CHECK-DAG: :34:3: remark: MPI_Waitany {{.*}} LoopAccess
// CHECK-DAG: :42:3: remark: MPI_Wait widened
