// Where every pass fills the message none is left when it starts: nothing could overlap, and nothing is said to.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
// The same for a length that is known only when the program runs, a message in the middle of what is written, and the program's own requests.
// RUN: %set %openmpi -DN=n %s | FileCheck %s
// RUN: %set %mpich -DN=1000 -DCOUNT=1001 -DFIRST=0 %s | FileCheck %s
// RUN: %set %openmpi -DN=n -DWAITS %s | FileCheck %s
// Passes before the message, or behind it, may be left.
// RUN: %set %openmpi -DCOUNT=999 %s | FileCheck --check-prefix=LEFT %s
// RUN: %set %openmpi -DFIRST=1 %s | FileCheck --check-prefix=LEFT %s
// RUN: %set %openmpi -DN=n -DCOUNT=m %s | FileCheck --check-prefix=LEFT %s
#include "mpi.h"
#ifndef N
#define N 1000
#endif
#ifndef COUNT
#define COUNT N
#endif
#ifndef FIRST
#define FIRST 0
#endif
void f(double *restrict b, double *restrict r, const double *restrict a, int n, int m) {
  MPI_Request q;
  for (int i = 0; i < N; i++)
    b[i] = a[i] * a[n - i];
#ifdef WAITS
  MPI_Isend(b + FIRST, COUNT, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q);
  MPI_Wait(&q, MPI_STATUS_IGNORE);
#else
  MPI_Sendrecv(b + FIRST, COUNT, MPI_DOUBLE, 1, 0, r, COUNT, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
}
// CHECK-NOT: __overlap_first
// LEFT: MPI_Sendrecv made nonblocking with frontier: the passes that fill its message run first
