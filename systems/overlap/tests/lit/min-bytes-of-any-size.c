// No payload is as large as the largest number: what is compared when the program runs has a sign, and the limit must not lose it.
// RUN: %set,min-bytes=18446744073709551615 %openmpi %s | FileCheck %s
// RUN: %set,min-bytes=9223372036854775808 %mpich %s | FileCheck %s
// RUN: %set,min-bytes=4096 %mpich %s | FileCheck --check-prefix=SMALL %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, int n) {
  MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK: icmp {{eq|sgt}} i64 {{.*}}, 922337203685477580{{[67]}}
// SMALL: icmp sgt i64 {{.*}}, 4095
