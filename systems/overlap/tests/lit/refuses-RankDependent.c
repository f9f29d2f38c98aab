// Ranks that take another branch would meet a blocking call.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
static double a[100], x[100];
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank < 2) {
    MPI_Bcast(a, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work(x, 100);
  }
}
// CHECK: stays blocking: RankDependent: {{.*}}; ranks part at the condition on line 10
