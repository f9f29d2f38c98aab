// A buffer or a status that ends with the wrapper keeps the wait inside, and so does a use behind it.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void use(double *);
__attribute__((noinline)) static void own(double *a, int n) {
  MPI_Status status;
  MPI_Recv(a, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &status);
}
__attribute__((noinline)) static double used(double *a, int n) {
  MPI_Recv(a, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return a[0];
}
double f(double *restrict a, double *restrict x, int n) {
  own(a, n);
  work(x, 100);
  double first = used(a, n);
  work(x, 100);
  return a[0] + first;
}
// CHECK-NOT: through
// CHECK-LABEL: @f(
// CHECK-NOT: .open
// CHECK: ret double
