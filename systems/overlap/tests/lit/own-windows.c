// Requests that leave the function that starts them: loops poll that run before they are ended, in functions called there, too;
// not those before the start and behind the end, though the end is a loop over the requests or stands under a condition.
// RUN: %set,progress=auto %openmpi -fno-inline %s | FileCheck %s
// RUN: %set,progress=auto %mpich -fno-inline %s | FileCheck %s
// RUN: %set,progress=off %mpich -fno-inline %s | FileCheck --check-prefix=OFF %s
#include "mpi.h"
int MPI_Waitall(int, MPI_Request *, MPI_Status *);
struct halo {
  int n;
  MPI_Request request[8];
  double *buffer[8];
};
void begin(struct halo *h) {
  for (int k = 0; k < h->n; k++)
    MPI_Irecv(h->buffer[k], 100000, MPI_DOUBLE, k, 0, MPI_COMM_WORLD, &h->request[k]);
}
void finish_loop(struct halo *h) {
  for (int k = 0; k < h->n; k++)
    MPI_Wait(&h->request[k], MPI_STATUS_IGNORE);
}
void finish_all(struct halo *h) {
  if (h->n > 0)
    MPI_Waitall(h->n, h->request, MPI_STATUS_IGNORE);
}
void first(double *restrict x, int n) {
  for (int i = 1; i < n; i++)
    x[i] = x[i] * 0.5 + x[i - 1];
}
void called(double *restrict x, int n) {
  for (int i = 1; i < n; i++)
    x[i] = x[i] * 0.25 + x[i - 1];
}
void calls(double *restrict x, int n) {
  if (n)
    called(x, n);
}
void behind(double *restrict x, int n) {
  for (int i = 1; i < n; i++)
    x[i] = x[i] * 0.75 + x[i - 1];
}
void by_loop(struct halo *h, double *restrict x, int n) {
  first(x, n);
  begin(h);
  calls(x, n);
  finish_loop(h);
  behind(x, n);
}
void by_all(struct halo *h, double *restrict x, int n) {
  first(x, n);
  begin(h);
  for (int i = 1; i < n; i++)
    x[i] = x[i] * 0.125 + x[i - 1];
  finish_all(h);
  behind(x, n);
}
// CHECK: own-windows.c:30:3: remark: loop polls while requests are pending
// CHECK: own-windows.c:51:3: remark: loop polls while requests are pending
// CHECK-NOT: remark: loop polls
// CHECK-LABEL: @begin(
// CHECK: call {{.*}}@__overlap_started(i32 1)
// CHECK-LABEL: @finish_all(
// CHECK: call {{.*}}@__overlap_open(
// CHECK-LABEL: @first(
// CHECK-NOT: __overlap_poll_after
// CHECK-LABEL: @called(
// CHECK: call {{.*}}@__overlap_poll_after(
// CHECK-LABEL: @behind(
// CHECK-NOT: __overlap_poll_after
// CHECK-LABEL: @by_all(
// CHECK: call {{.*}}@__overlap_poll_after(
// OFF-NOT: __overlap_poll_after
