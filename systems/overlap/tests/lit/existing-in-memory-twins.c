// Requests in memory that others reach, and which of them the wait ends is not known, or they are looked at behind it: it stays.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
static MPI_Request of_file[2];
static int flags[2];
struct halo {
  double *in;
  MPI_Request *requests;
};
void unknown(void);
// A function that is not known runs between, and may wait or start again.
void calls(double *restrict a, double *restrict x) {
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &of_file[0]);
  unknown();
  MPI_Wait(&of_file[0], MPI_STATUS_IGNORE);
  work(x, 100);
}
__attribute__((noinline)) static void asks(void) {
  MPI_Test(&of_file[0], &flags[0], MPI_STATUS_IGNORE);
}
// Another function asks whether it is there.
void asked(double *restrict a, double *restrict x) {
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &of_file[0]);
  asks();
  MPI_Wait(&of_file[0], MPI_STATUS_IGNORE);
  work(x, 100);
}
// What the caller of this has started.
void of_the_caller(double *restrict x) {
  MPI_Wait(&of_file[0], MPI_STATUS_IGNORE);
  work(x, 100);
}
// One way starts nothing, so that a message of before may be pending.
void one_way(double *restrict a, double *restrict x, int neighbour) {
  if (neighbour >= 0)
    MPI_Irecv(a, 8, MPI_DOUBLE, neighbour, 0, MPI_COMM_WORLD, &of_file[0]);
  MPI_Wait(&of_file[0], MPI_STATUS_IGNORE);
  work(x, 100);
}
// The second start may have its request where the first one has.
void other_pointer(double *restrict a, double *restrict b, double *restrict x, MPI_Request *p, MPI_Request *q) {
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, p);
  MPI_Irecv(b, 8, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, q);
  MPI_Wait(p, MPI_STATUS_IGNORE);
  work(x, 100);
}
// The handle of another message is put there.
void written(double *restrict a, double *restrict x, MPI_Request other) {
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &of_file[0]);
  of_file[0] = other;
  MPI_Wait(&of_file[0], MPI_STATUS_IGNORE);
  work(x, 100);
}
// The second request is of before.
void one_of_two(double *restrict a, double *restrict x) {
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &of_file[0]);
  MPI_Waitall(2, of_file, MPI_STATUS_IGNORE);
  work(x, 100);
}
// In the second pass of the loop nothing is pending.
void in_loop(double *restrict a, double *restrict x, int n) {
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &of_file[0]);
  for (int i = 0; i < n; i++) {
    MPI_Wait(&of_file[0], MPI_STATUS_IGNORE);
    work(x, 100);
  }
}
// The pass before has started it, into another buffer.
void of_pass_before(double *restrict a, double *restrict x, int n) {
  for (int i = 0; i < n; i++) {
    if (i)
      MPI_Wait(&of_file[0], MPI_STATUS_IGNORE);
    work(x, 100);
    MPI_Irecv(a + 8 * i, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &of_file[0]);
  }
}
// Both ways wait for it.
void two_waits(double *restrict a, double *restrict x, int early) {
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &of_file[0]);
  if (early) {
    MPI_Wait(&of_file[0], MPI_STATUS_IGNORE);
    x[0] = a[0];
  } else {
    x[0] = 7;
    MPI_Wait(&of_file[0], MPI_STATUS_IGNORE);
  }
  work(x, 100);
}
// The array is another one behind the first start.
void grows(struct halo *h, double *restrict a, double *restrict x, MPI_Request *larger) {
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h->requests[0]);
  h->requests = larger;
  MPI_Wait(&h->requests[0], MPI_STATUS_IGNORE);
  work(x, 100);
}
// The function behind it looks at the request.
__attribute__((noinline)) static void looks(double *x) {
  for (int i = 0; i < 100; i++)
    x[i] = x[i] * .5 + (of_file[0] != 0);
}
void looked_at(double *restrict a, double *restrict x) {
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &of_file[0]);
  MPI_Wait(&of_file[0], MPI_STATUS_IGNORE);
  looks(x);
}
// CHECK-NOT: widened
// CHECK-COUNT-13: stays where it is
// CHECK-NOT: widened
// CHECK-LABEL: @looked_at(
// CHECK: call i32 @MPI_Wait(
// CHECK: call {{.*}}@looks
