// What has large counts and is another procedure matches nothing of this one: the broadcast is converted.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
static double a[100], x[100];
int MPI_Send_c(const void *, long, MPI_Datatype, int, int, MPI_Comm);
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1)
    MPI_Send_c(x, 100, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  MPI_Bcast(a, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: 12:5: remark: MPI_Send stays blocking: LargeCount:
// CHECK: 13:3: remark: MPI_Bcast made nonblocking
