// Only one of two calls can have the work between them where the first may not pass the second's start: the one that waited
// longer in the run has it.
// RUN: %set,min-weight=100,profile=%S/inputs/longer.json %openmpi %s | FileCheck %s
// RUN: %set,min-weight=100,profile=%S/inputs/longer.json %mpich %s | FileCheck %s
#include "mpi.h"
void first(double *restrict a, double *restrict b, double *restrict x, int last) {
  MPI_Recv(b, 100000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (last)
    MPI_Send(b, 100000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
  MPI_Send(a, 100000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}
void second(double *restrict a, double *restrict b, double *restrict x, int last) {
  MPI_Recv(b, 100000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (last)
    MPI_Send(b, 100000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
  MPI_Send(a, 100000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}
// The first does not reach the work, so that the second may have it.
void neither(double *restrict a, double *restrict b, double *restrict x) {
  MPI_Recv(b, 100000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  a[0] = b[0];
  work(x, 100);
  MPI_Send(a, 100000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}
// The first's window ends before the second's start.
void ends_before(double *restrict a, double *restrict b, double *restrict x, double *restrict c) {
  MPI_Recv(b, 100000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work(x, 100);
  a[0] = b[0];
  MPI_Send(c, 100000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}
// CHECK-DAG: :7:3: remark: MPI_Recv made nonblocking
// CHECK-DAG: :11:3: remark: MPI_Send stays blocking: SmallWindow: {{.*}}; the work before it hides MPI_Recv on line 7, which waits longer
// CHECK-DAG: :14:3: remark: MPI_Recv stays blocking: SmallWindow
// CHECK-DAG: :18:3: remark: MPI_Send made nonblocking
// CHECK-DAG: :22:3: remark: MPI_Recv stays blocking: SmallWindow
// CHECK-DAG: :25:3: remark: MPI_Send made nonblocking
// CHECK-DAG: :29:3: remark: MPI_Recv made nonblocking
// CHECK-DAG: :32:3: remark: MPI_Send stays blocking: SmallWindow: {{.*}}; the work before it hides MPI_Recv on line 29, which waits longer
