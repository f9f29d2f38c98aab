// The wait of a wrapper passes functions that are not inlined: they use other variables, and a buffer goes to MPI alone.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
#include <math.h>
#include <stdlib.h>
static double held[100], x[100];
double *kept;
__attribute__((noinline)) static void receive(double *a, int n) {
  MPI_Recv(a, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
__attribute__((noinline)) static void of_x(int n) {
  for (int i = 1; i < n; i++)
    x[i] = sin(x[i - 1]);
}
__attribute__((noinline)) static void of_kept(int n) {
  for (int i = 1; i < n; i++)
    kept[i] = sin(kept[i - 1]);
}
double variable(int n) {
  receive(held, 100);
  of_x(n);
  return held[0];
}
double own(int n) {
  double *a = malloc(n * sizeof *a);
  receive(a, n);
  of_x(n);
  double first = a[0];
  free(a);
  return first;
}
// What `kept` points to is not known.
double unknown(int n) {
  receive(held, 100);
  of_kept(n);
  return held[0];
}
// CHECK-LABEL: define {{.*}}@variable(
// CHECK: call {{.*}}@receive.open(
// CHECK: call {{.*}}@of_x(
// CHECK: call void @overlap.wait(
// CHECK-LABEL: define {{.*}}@own(
// CHECK: call {{.*}}@receive.open(
// CHECK: call {{.*}}@of_x(
// CHECK: call void @overlap.wait(
// CHECK-LABEL: define {{.*}}@unknown(
// CHECK-NOT: receive.open
// CHECK: ret double
