// An intercommunicator does not follow from the world.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
static double a[100], x[100];
int main(int argc, char **argv) {
  MPI_Comm inter;
  MPI_Init(&argc, &argv);
  MPI_Intercomm_create(MPI_COMM_WORLD, 0, MPI_COMM_WORLD, 0, 0, &inter);
  MPI_Bcast(a, 100, MPI_DOUBLE, 0, inter);
  work(x, 100);
}
// CHECK: stays blocking: UnknownCommunicator:
