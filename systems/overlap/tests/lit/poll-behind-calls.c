// Functions that take a small part of a window are not copied: a call behind each counts and polls. Short ones have none, and
// a new window does not go by what was found in the one before.
// RUN: %set,progress=on %openmpi -fno-discard-value-names %s | FileCheck %s
// RUN: %set,progress=on %mpich -fno-discard-value-names %s | FileCheck %s
#include "mpi.h"
#define KERNEL(name, number)                                                                                                               \
  __attribute__((noinline)) static void name(double *restrict x, int n) {                                                                  \
    for (int i = 1; i < n; i++)                                                                                                            \
      x[i] = x[i] * number + x[i - 1];                                                                                                     \
  }
KERNEL(one, 1.5)
KERNEL(two, 2.5)
KERNEL(three, 3.5)
__attribute__((noinline)) static void brief(double *x) { x[0] += 1; }
void f(double *restrict a, double *restrict x, int n) {
  MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  brief(x);
  one(x, n);
  two(x, n);
  three(x, n);
  one(x, n);
  two(x, n);
  three(x, n);
  one(x, n);
  two(x, n);
  three(x, n);
}
// CHECK: MPI_Send made nonblocking with frontier: {{.*}} 8 polls
// CHECK-LABEL: @f(
// CHECK: overlap.start.MPI_Send
// CHECK-NEXT: store i32 1, ptr %overlap.passes
// CHECK-NOT: overlap.tick
// CHECK: @brief(
// CHECK-NEXT: @one(
// CHECK-NEXT: call void @overlap.tick({{.*}}%overlap.state{{.*}}%overlap.rate{{.*}}%overlap.passes
// CHECK-NEXT: @two(
// CHECK-NEXT: call void @overlap.tick(
// CHECK-NOT: .overlap(
