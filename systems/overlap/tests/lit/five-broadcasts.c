// Five adjacent broadcasts are all pending at once, started in their order.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
int main(int argc, char **argv) {
  static double a[5][100], x[100];
  MPI_Init(&argc, &argv);
  MPI_Bcast(a[0], 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(a[1], 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(a[2], 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(a[3], 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(a[4], 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(x, 100);
  MPI_Finalize();
  return x[99] + a[4][0] > 0;
}
// CHECK-LABEL: @main(
// CHECK: call i32 @overlap.start.MPI_Bcast(ptr {{.*}}@main.a
// CHECK-NOT: overlap.wait
// CHECK: call i32 @overlap.start.MPI_Bcast
// CHECK-NOT: overlap.wait
// CHECK: call i32 @overlap.start.MPI_Bcast
// CHECK-NOT: overlap.wait
// CHECK: call i32 @overlap.start.MPI_Bcast
// CHECK-NOT: overlap.wait
// CHECK: call i32 @overlap.start.MPI_Bcast
// CHECK: fmul
// CHECK-COUNT-5: call void @overlap.wait
// CHECK: @MPI_Finalize
