// Requests of the whole program, of a struct that an argument points to, or of a variable whose address others know: on every way
// to the wait they were started in this function, and nothing between may have waited for them.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
static MPI_Request of_file[2];
MPI_Request of_all[2];
struct halo {
  double *in, *out;
  MPI_Request requests[2];
};
void global(double *restrict a, double *restrict b, double *restrict x) {
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &of_file[0]);
  MPI_Isend(b, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &of_file[1]);
  MPI_Waitall(2, of_file, MPI_STATUS_IGNORE);
  work(x, 100);
}
// The same requests in another function do not matter.
void again(double *restrict a, double *restrict b, double *restrict x) {
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &of_file[1]);
  MPI_Isend(b, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &of_file[0]);
  MPI_Waitall(2, of_file, MPI_STATUS_IGNORE);
  work(x, 100);
}
void of_all_files(double *restrict a, double *restrict b, double *restrict x) {
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &of_all[0]);
  MPI_Isend(b, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &of_all[1]);
  MPI_Wait(&of_all[1], MPI_STATUS_IGNORE);
  MPI_Wait(&of_all[0], MPI_STATUS_IGNORE);
  work(x, 100);
}
void members(struct halo *h, double *restrict x) {
  MPI_Irecv(h->in, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h->requests[0]);
  MPI_Isend(h->out, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h->requests[1]);
  MPI_Waitall(2, h->requests, MPI_STATUS_IGNORE);
  work(x, 100);
}
// One way starts, the other leaves a null request.
void one_way(double *restrict a, double *restrict x, int neighbour) {
  of_file[0] = 0;
  if (neighbour >= 0)
    MPI_Irecv(a, 8, MPI_DOUBLE, neighbour, 0, MPI_COMM_WORLD, &of_file[0]);
  MPI_Wait(&of_file[0], MPI_STATUS_IGNORE);
  work(x, 100);
}
void elsewhere(MPI_Request *);
void escaped(double *restrict a, double *restrict x) {
  MPI_Request request;
  elsewhere(&request);
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(x, 100);
}
// The handle itself is looked at; which request it is, a number says, the same for both.
int looked_at(double *restrict a, double *restrict x, int at) {
  struct halo h[2] = {{a, a, {0}}, {a, a, {0}}};
  MPI_Irecv(h[at].in, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h[at].requests[1]);
  int pending = h[at].requests[1] != 0;
  MPI_Wait(&h[at].requests[1], MPI_STATUS_IGNORE);
  work(x, 100);
  return pending;
}
// CHECK-NOT: stays where it is
// CHECK-LABEL: @global(
// CHECK: call i32 @MPI_Isend
// CHECK: fmul
// CHECK: call i32 @MPI_Waitall
// CHECK-LABEL: @again(
// CHECK: call i32 @MPI_Isend
// CHECK: fmul
// CHECK: call i32 @MPI_Waitall
// CHECK-LABEL: @of_all_files(
// CHECK: call i32 @MPI_Isend
// CHECK: fmul
// CHECK: call i32 @MPI_Wait({{.*}}of_all
// CHECK: call i32 @MPI_Wait({{.*}}of_all
// CHECK-LABEL: @members(
// CHECK: call i32 @MPI_Isend
// CHECK: fmul
// CHECK: call i32 @MPI_Waitall
// CHECK-LABEL: @one_way(
// CHECK: call i32 @MPI_Irecv
// CHECK: fmul
// CHECK: call i32 @MPI_Wait
// CHECK-LABEL: @escaped(
// CHECK: call i32 @MPI_Irecv
// CHECK: fmul
// CHECK: call i32 @MPI_Wait
// CHECK-LABEL: @looked_at(
// CHECK: call i32 @MPI_Irecv
// CHECK: fmul
// CHECK: call i32 @MPI_Wait
