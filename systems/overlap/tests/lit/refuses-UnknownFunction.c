// What the plugin has never heard of may do anything to a message.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
// RUN: %set %mpich -DNAME=MPIX_Comm_revoke %s | FileCheck %s
// RUN: %set %mpich -DNAME=PMPI_Nothing_known %s | FileCheck %s
// RUN: %set %mpich -DNAME=mpi_nothing_known_ %s | FileCheck %s
// What is known, if only by its plain name, or is a name of the program's own, is no reason.
// RUN: %set %openmpi -DNAME=MPI_Get_processor_name %s | FileCheck --check-prefix=NONE %s
// RUN: %set %openmpi -DNAME=MPI_Type_get_envelope_c %s | FileCheck --check-prefix=NONE %s
// RUN: %set %openmpi -DNAME=mpi_of_mine %s | FileCheck --check-prefix=NONE %s
#include "mpi.h"
#ifndef NAME
#define NAME MPI_Nothing_known
#endif
void NAME(int);
void f(double *restrict a, double *restrict x) {
  NAME(3);
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// The whole program is switched off, whatever its other files do.
// CHECK-DAG: stays blocking: UnknownFunction: {{.*}}; it calls {{.*(othing_known|revoke)}}
// CHECK-DAG: @__overlap_off = weak
// NONE-NOT: @__overlap_off
// NONE: MPI_Send made nonblocking
