// Another function may wait for the request.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void elsewhere(MPI_Request *);
void f(double *restrict a, double *restrict x) {
  MPI_Request request;
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  elsewhere(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(x, 100);
}
struct halo {
  MPI_Request request;
  double *in;
};
void with_all(struct halo *);
// The struct around it goes elsewhere, or which of them is meant is a number.
void g(double *restrict a, double *restrict x) {
  struct halo h = {0, a};
  MPI_Irecv(h.in, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h.request);
  with_all(&h);
  MPI_Wait(&h.request, MPI_STATUS_IGNORE);
  work(x, 100);
}
double *k(double *restrict a, double *restrict x, int at, int other) {
  struct halo h[2] = {{0, a}, {0, a}};
  MPI_Irecv(h[at].in, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h[at].request);
  MPI_Wait(&h[other].request, MPI_STATUS_IGNORE);
  work(x, 100);
  return h[0].in;
}
// CHECK: MPI_Wait stays where it is: RequestEscapes:
// CHECK: MPI_Wait stays where it is: RequestEscapes:
// CHECK: MPI_Wait stays where it is: RequestEscapes:
// CHECK-LABEL: @f(
// CHECK: call i32 @MPI_Wait
// CHECK: fmul
