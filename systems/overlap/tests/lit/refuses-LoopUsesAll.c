// A loop that unpacks a message has no interior: it is not copied.
// RUN: %set %openmpi -fno-discard-value-names %s | FileCheck %s
// RUN: %set %mpich -fno-discard-value-names %s | FileCheck %s
#include "mpi.h"
void f(double *restrict u, double *restrict v, int n) {
  MPI_Recv(u, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; i++)
    v[i] += 0.5 * u[i];
}
// Of a part of it something is left.
void g(double *restrict u, double *restrict v, int n, int m) {
  MPI_Recv(u, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < m; i++)
    v[i] += 0.5 * u[i];
}
// CHECK: LoopUsesAll
// CHECK: 1 loops split into interior and border
// CHECK-LABEL: define {{.*}}@f(
// CHECK-NOT: overlap.first
// CHECK-LABEL: define {{.*}}@g(
// CHECK: %overlap.first = select
