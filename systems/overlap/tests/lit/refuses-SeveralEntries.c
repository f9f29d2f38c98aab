// A cycle that is entered at two places is no loop: its buffers are others in each pass.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
double f(double (*restrict a)[8], double *restrict x, const int *restrict uses, int enter, long n) {
  double sum = 0;
  long i = 0;
  if (enter)
    goto second;
first:
  if (uses[i]) {
    work(x, 100);
    sum += a[i - 1][3];
  } else {
    MPI_Recv(a[i], 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  i++;
second:
  if (i < n)
    goto first;
  return sum;
}
double own(double (*restrict a)[8], double *restrict x, const int *restrict uses, int enter, long n) {
  MPI_Request q;
  double sum = 0;
  long i = 0;
  if (enter)
    goto second;
first:
  if (uses[i]) {
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    sum += a[i - 1][3];
    work(x, 100);
  } else {
    MPI_Irecv(a[i], 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q);
  }
  i++;
second:
  if (i < n)
    goto first;
  return sum;
}
// With one entry it is a loop.
double one(double (*restrict a)[8], double *restrict x, const int *restrict uses, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    if (uses[i]) {
      sum += a[i - 1][3];
    } else {
      MPI_Recv(a[i], 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      work(x, 100);
    }
  return sum;
}
// CHECK-DAG: MPI_Recv stays blocking: SeveralEntries:
// CHECK-DAG: MPI_Wait stays where it is: SeveralEntries:
// CHECK-DAG: :50:7: remark: MPI_Recv made nonblocking
