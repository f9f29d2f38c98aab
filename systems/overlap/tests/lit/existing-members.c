// The requests are members of a struct that is a local variable: its other members are read and written between.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
struct halo {
  double *in;
  long passes;
  MPI_Request requests[2];
  double *out;
};
static void start(struct halo *h) {
  MPI_Irecv(h->in, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h->requests[0]);
  MPI_Isend(h->out, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h->requests[1]);
}
static void finish(struct halo *h) {
  MPI_Wait(&h->requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&h->requests[1], MPI_STATUS_IGNORE);
}
long f(double *restrict in, double *restrict out, double *restrict x) {
  struct halo h = {in, 0, {0}, out};
  start(&h);
  h.passes++;
  finish(&h);
  work(x, 100);
  return h.passes + (h.out == h.in);
}
// CHECK: MPI_Wait widened
// CHECK: MPI_Wait widened
// CHECK-LABEL: @f(
// CHECK: call i32 @MPI_Irecv
// CHECK: fmul
// CHECK: call i32 @MPI_Wait(
