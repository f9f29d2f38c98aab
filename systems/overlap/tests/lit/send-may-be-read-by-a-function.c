// A message that is being sent may be read by a function that gets the buffer to read, and writes others.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
static double seen;
__attribute__((noinline)) static void next(double *to, const double *from, int n) {
  for (int i = 1; i < n; i++) {
    to[i] = to[i - 1] + 2 * from[i];
    seen += from[i];
  }
}
__attribute__((noinline)) static void spoil(double *to, const double *from, int n) {
  next(to, from, n);
  ((double *)from)[n - 1] = 0;
}
void reads(double *restrict a, double *restrict b, int n) {
  MPI_Send(a, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
  next(b, a, n);
}
void writes(double *restrict a, double *restrict b, int n) {
  MPI_Send(a, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
  spoil(b, a, n);
}
void writes_to_same(double *restrict a, double *restrict b, int n) {
  MPI_Send(a, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
  next(a, a, n);
}
void is_received(double *restrict a, double *restrict b, int n) {
  MPI_Recv(a, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  next(b, a, n);
}
// CHECK-LABEL: define {{.*}}@reads(
// CHECK: overlap.start.MPI_Send
// CHECK-NOT: overlap.wait
// CHECK: call {{.*}}@next(
// CHECK: call void @overlap.wait
// CHECK-LABEL: define {{.*}}@writes(
// CHECK: call {{.*}}@MPI_Send
// CHECK-LABEL: define {{.*}}@writes_to_same(
// CHECK: call {{.*}}@MPI_Send
// CHECK-LABEL: define {{.*}}@is_received(
// CHECK: call {{.*}}@MPI_Recv
