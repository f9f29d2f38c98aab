// Functions whose names ISO C reserves, or two underscores and a library of this system, receive from no source; another of this
// kind may. Nor do flang's, of other names.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
// RUN: %set %openmpi -DOTHER %s | FileCheck --check-prefix=OTHER %s
#include "mpi.h"
#include <complex.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double a[100], b[100], x[100];
int __not_of_any_library(void);
int __fprintf_chk(FILE *, int, const char *, ...);
void flush_(const int *);
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  time_t now = time(0);
  int first = div(argc, 2).rem + toupper(*ctime(&now)) + localtime(&now)->tm_sec;
  flush_(&first);
  __fprintf_chk(stderr, 1, "%d %f\n", first, creal(csqrt(-argc)));
#ifdef OTHER
  __not_of_any_library();
#endif
  MPI_Recv(a, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(b, 100, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD);
  work(x, 100);
  MPI_Finalize();
}
// CHECK: MPI_Recv made nonblocking
// OTHER: MPI_Recv stays blocking: SmallWindow:
