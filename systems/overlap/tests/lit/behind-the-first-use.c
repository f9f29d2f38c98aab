// What could be moved by hand: work behind the first use of a message, up to the next call of MPI, that needs nothing of it and
// writes nothing that it needs. A loop that depends on what was received does not count, nor what a branch on it decides.
// RUN: %set,strength=basic %openmpi %s | FileCheck %s
// RUN: %set,strength=basic %mpich %s | FileCheck %s
// RUN: %set,strength=basic %mpich -DDEPENDS %s | FileCheck --check-prefix=DEPENDS %s
// RUN: %set,strength=basic %mpich -DDECIDES %s | FileCheck --check-prefix=DEPENDS %s
// RUN: %set,strength=basic %mpich -DWRITES %s | FileCheck --check-prefix=DEPENDS %s
#include "mpi.h"
double g(double *restrict r, double *restrict x, double *restrict y, int n) {
  MPI_Recv(r, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  double first = r[0];
#ifdef DECIDES
  if (first > 0)
#endif
    for (int i = 0; i < 200; i++)
#if defined DEPENDS
      y[i] = x[i] * first + 1;
#elif defined WRITES
      r[i] = x[i] * 0.5 + 1;
#else
      y[i] = x[i] * 0.5 + 1;
#endif
  MPI_Send(y, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  return first;
}
// CHECK: :10:3: remark: MPI_Recv stays blocking: SmallWindow: {{.*}}; {{[1-9][0-9][0-9][0-9]*}} weighted instructions behind it do not need the message either
// DEPENDS: :10:3: remark: MPI_Recv stays blocking: SmallWindow: {{.*}}
// DEPENDS-NOT: weighted instructions behind it do not need the message either
