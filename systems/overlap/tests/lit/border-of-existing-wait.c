// A wait of the program before a loop that needs its message in the border only.
// RUN: %set %openmpi -fno-discard-value-names %s | FileCheck %s
// RUN: %set %mpich -fno-discard-value-names %s | FileCheck %s
#include "mpi.h"
int MPI_Waitall(int, MPI_Request *, MPI_Status *);
void f(double *u, double *restrict v, int n, int m) {
  MPI_Request q[2];
  MPI_Irecv(u, m, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &q[0]);
  MPI_Irecv(u + n + m, m, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &q[1]);
  MPI_Waitall(2, q, (MPI_Status *)0);
  for (long i = m; i < n + m; i++)
    v[i] = 0.5 * (u[i - m] + u[i + m]);
}
// CHECK: MPI_Waitall widened {{.*}} 1 loops split into interior and border
// CHECK-LABEL: @f(
// CHECK: br i1 %{{[0-9]+}}, label %{{.*}}interior, label %overlap.border
// CHECK: overlap.border:
// CHECK-NEXT: call i32 @MPI_Waitall
// CHECK: %mul.interior = fmul
// CHECK: %mul.rest = fmul
