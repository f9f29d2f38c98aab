// What a run has measured decides: a call that waited is converted however short its message, one that did not wait or was not
// reached stays. Where the run does not know the line of a call, nothing is decided.
// RUN: %set,min-bytes=65536,profile=%S/inputs/run.json %openmpi %s | FileCheck %s
// RUN: %set,min-bytes=65536,profile=%S/inputs/run.json %mpich %s | FileCheck %s
// RUN: %set,min-bytes=65536,profile=%S/inputs/mpi.h %openmpi %s | FileCheck --check-prefix=NONE %s
// RUN: %set,min-bytes=65536,profile=%S/inputs/missing %openmpi %s | FileCheck --check-prefix=NONE %s
#include "mpi.h"
void g(double *restrict, int);
void f(double *restrict a, double *restrict b, double *restrict x, int n) {
  // The lines are those of the profile.
  //
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); work(x, 100);
  MPI_Send(a, 100000, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); work(x, 100);
  MPI_Send(a, 100000, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD); work(x, 100);
  MPI_Recv(b, 100000, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); work(x, 100);
}
// CHECK-NOT: warning
// CHECK-DAG: :12:3: remark: MPI_Send made nonblocking
// CHECK-DAG: :13:3: remark: MPI_Send stays blocking: NeverPays: the profiled run waited here for less than a start and a wait cost; the profile is of a.out
// CHECK-DAG: :14:3: remark: MPI_Send stays blocking: NeverRan: the profiled run did not come here; the profile is of a.out
// CHECK-DAG: :15:3: remark: MPI_Recv made nonblocking
// CHECK: call i32 @overlap.start.MPI_Send.pays
// CHECK: define {{.*}}@overlap.start.MPI_Send.pays
// CHECK-NOT: 65536
// CHECK: define
// NONE: warning: overlap: {{.*}} is no profile of `meanwhile overlap trace --profile`, and is left out
// NONE: :12:3: remark: MPI_Send stays blocking: SmallMessage
// NONE: :13:3: remark: MPI_Send made nonblocking
