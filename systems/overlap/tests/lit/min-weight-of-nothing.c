// A window of any size is wanted, even one of nothing: where no work is there is no place before it, and the compiler lives.
// RUN: %set,min-weight=0 %openmpi  %s | FileCheck %s
// RUN: %set,min-weight=0 %mpich  %s | FileCheck %s
// RUN: %set,min-weight=18446744073709551615,min-bytes=18446744073709551615,poll-us=4294967295,progress=on %mpich %s | FileCheck --check-prefix=MOST %s
#include "mpi.h"
int f(int *a, int n, int rank) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    MPI_Recv(&a[2 * i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    s += a[2 * i];
  }
  return s;
}
int g(int *a, int n, int rank) {
  int i = 0;
  do {
    MPI_Send(&a[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD);
  } while (++i < n);
  return 0;
}
int h(int **p, int n, int rank) {
  for (int i = 0; i < n; i++)
    MPI_Recv(p[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return p[0][0];
}
// CHECK: MPI_Recv
// CHECK: MPI_Send
// CHECK: MPI_Recv
// CHECK-LABEL: @f(
// MOST-COUNT-3: stays blocking
