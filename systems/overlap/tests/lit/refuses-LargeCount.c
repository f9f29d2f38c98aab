// A call with large counts stays as it is written. The plain one that it may match does not: how both start is decided when they run.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
static double a[100], b[100], x[100];
int MPI_Allreduce_c(const void *, void *, long, MPI_Datatype, MPI_Op, MPI_Comm);
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1)
    MPI_Allreduce_c(a, b, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(a, b, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work(x, 100);
  if (rank == 0)
    MPI_Allreduce_c(a, b, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
// CHECK: 12:5: remark: MPI_Allreduce stays blocking: LargeCount:
// CHECK: 13:3: remark: MPI_Allreduce made nonblocking
// CHECK: 16:5: remark: MPI_Allreduce stays blocking: LargeCount:
