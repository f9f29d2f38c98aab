// A function called in the window is copied, and the copy polls; other callers use the original.
// RUN: %set,progress=on %openmpi  %s | FileCheck %s
// RUN: %set,progress=on %mpich  %s | FileCheck %s
#include "mpi.h"
__attribute__((noinline)) static void product(double *restrict x, int n) {
  for (int j = 0; j < n; j++)
    for (int i = 1; i < n; i++)
      x[i] = x[i] * 0.5 + x[i - 1] + x[i + 1] * 3;
}
void f(double *restrict a, double *restrict x, int n) {
  product(x, n);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  product(x, n);
}
// CHECK-LABEL: @f(
// CHECK: @product(
// CHECK: start.MPI_Send
// CHECK: @product.overlap(
