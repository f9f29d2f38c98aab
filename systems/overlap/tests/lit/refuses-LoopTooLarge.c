// A loop of thousands of instructions is not copied.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
#define ONE(k) x = x * (x + k) - 1 / (x - k);
#define TEN(k) ONE(k) ONE(k + 1) ONE(k + 2) ONE(k + 3) ONE(k + 4) ONE(k + 5) ONE(k + 6) ONE(k + 7) ONE(k + 8) ONE(k + 9)
#define HUNDRED(k) TEN(k) TEN(k + 10) TEN(k + 20) TEN(k + 30) TEN(k + 40) TEN(k + 50) TEN(k + 60) TEN(k + 70) TEN(k + 80) TEN(k + 90)
void f(double *u, double *restrict v, int n, int m) {
  MPI_Recv(u + n, m, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < n + m; i++) {
    double x = u[i];
    HUNDRED(0) HUNDRED(100) HUNDRED(200) HUNDRED(300)
    v[i] = x;
  }
}
// CHECK: LoopTooLarge
// CHECK-NOT: overlap.interior
