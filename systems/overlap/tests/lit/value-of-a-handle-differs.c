// An answer that is no code may differ from rank to rank: the handle of a part of the world, an address.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
// What all ranks have the same handle of is the same.
// RUN: %set %mpich -DOF=MPI_COMM_WORLD %s | FileCheck --check-prefix=SAME %s
#include "mpi.h"
int MPI_Comm_split(MPI_Comm, int, int, MPI_Comm *), MPI_Comm_c2f(MPI_Comm);
#ifndef OF
#define OF part
#endif
static double a[100], x[100];
int main(int argc, char **argv) {
  int rank;
  MPI_Comm part;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank ? 1 : -32766, 0, &part);
  if (MPI_Comm_c2f(OF) != 2)
    MPI_Bcast(a, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: MPI_Bcast stays blocking: RankDependent:
// SAME: MPI_Bcast made nonblocking
