// The function has to return what the call itself returns.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
int f(const void *a, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  __attribute__((musttail)) return MPI_Send(a, n, type, to, tag, comm);
}
// CHECK: stays blocking: ReturnCodeUsed:
