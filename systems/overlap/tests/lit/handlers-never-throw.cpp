// The user says that no error handler throws, so nothing is destroyed or caught because of a call, whatever other files do; else
// the call stays where it is, for when its start is told that one may.
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
// ANY: invoke {{.*}}@MPI_Send(
