// A whole program without wildcards may keep the receive pending over the send, unless the user says that it has some.
// RUN: %set %openmpi %s | FileCheck %s --check-prefix=AUTO
// RUN: %set %mpich %s | FileCheck %s --check-prefix=AUTO
// RUN: %set,wildcards=maybe %openmpi %s | FileCheck %s --check-prefix=MAYBE
// RUN: %set,wildcards=maybe %mpich %s | FileCheck %s --check-prefix=MAYBE
#include "mpi.h"
static double a[8], b[8], x[100];
int main(void) {
  MPI_Recv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(b, 8, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD);
  work(x, 100);
  return 0;
}
// AUTO-LABEL: @main(
// AUTO: start.MPI_Recv
// AUTO-NOT: call void @overlap.wait
// AUTO: start.MPI_Send
// MAYBE-LABEL: @main(
// MAYBE: start.MPI_Recv
// MAYBE: call void @overlap.wait
// MAYBE: start.MPI_Send
