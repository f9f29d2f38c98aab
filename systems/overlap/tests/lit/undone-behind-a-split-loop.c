// A loop is split, and its interior, whose length nobody knows any more, is too little: the call blocks again, and what asked
// whether its message is pending is told no. In `g` two messages are asked about, one behind the other.
// RUN: %set,min-weight=1000 %openmpi %s | FileCheck %s
// RUN: %set,min-weight=1000 %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *u, double *restrict v, int up) {
  MPI_Recv(u, 8, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 1000; i++)
    v[i] = 0.5 * (u[i] + u[i + 1]);
}
void g(double *u, double *restrict v, int up, int down) {
  MPI_Recv(u, 8, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(u + 1000, 8, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 1000; i++)
    for (int j = 0; j < 2; j++)
      v[2 * i + j] = 0.5 * (u[i] + u[i + j]);
}
// CHECK-COUNT-3: MPI_Recv stays blocking: SmallWindow
// CHECK-NOT: badref
// CHECK-LABEL: @f(
// CHECK: call i32 @MPI_Recv(
// CHECK-NOT: badref
// CHECK: fmul
// CHECK-LABEL: @g(
// CHECK: call i32 @MPI_Recv(
// CHECK-NOT: badref
// CHECK: fmul
// CHECK-NOT: badref
