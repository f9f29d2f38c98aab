// The user says that no error handler throws, so nothing is destroyed or caught because of a call, whatever other files do.
// RUN: %set,handlers=never-throw %openmpi++ %s | FileCheck %s
// RUN: %set,handlers=never-throw %mpich++ %s | FileCheck %s
// RUN: %set,handlers=any %mpich++ %s | FileCheck --check-prefix=ANY %s
#include "mpi.h"
struct Guard {
  ~Guard();
};
void elsewhere();
void f(double *__restrict a, double *__restrict x) {
  Guard guard;
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
  elsewhere();
}
// CHECK: MPI_Send made nonblocking
// CHECK: invoke {{.*}}elsewhere
// ANY: MPI_Send stays blocking: MayThrow:
