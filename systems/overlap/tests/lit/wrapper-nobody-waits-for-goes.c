// The copy of a wrapper that leaves its message pending goes where no caller gains by it, before later passes optimise it.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
__attribute__((noinline)) static void receive(double *a, int n) {
  MPI_Recv(a, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
__attribute__((noinline)) static void receive_two(double *a, int n) {
  receive(a, n);
  receive(a, n);
}
double f(double *a, int n) {
  receive_two(a, n);
  return a[0];
}
// CHECK: remark: {{.*}}MPI_Recv stays blocking: SmallWindow
// CHECK-NOT: .open(
