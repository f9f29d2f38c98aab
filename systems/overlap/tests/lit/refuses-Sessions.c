// Communicators of sessions have an error handler, and the session a level of threads, that no other call tells of.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
// RUN: %set %mpich '-DCALL=MPI_Session_init(0,0,&comm)' %s | FileCheck %s
// RUN: %set %mpich '-DCALL=MPI_Intercomm_create_from_groups(0,0,&comm)' %s | FileCheck %s
// RUN: %set %mpich '-DCALL=mpi_session_init_f08_(0,0,&comm)' %s | FileCheck %s
// A communicator of a group inherits what its parent has.
// RUN: %set %mpich '-DCALL=MPI_Comm_create_group(MPI_COMM_WORLD,0,&comm)' %s | FileCheck --check-prefix=NONE %s
#include "mpi.h"
int MPI_Session_init(int, int, MPI_Comm *), MPI_Comm_create_from_group(int, int, MPI_Comm *);
int MPI_Intercomm_create_from_groups(int, int, MPI_Comm *), mpi_session_init_f08_(int, int, MPI_Comm *);
int MPI_Comm_create_group(MPI_Comm, int, MPI_Comm *);
#ifndef CALL
#define CALL MPI_Comm_create_from_group(0, 0, &comm)
#endif
void f(double *restrict a, double *restrict x) {
  MPI_Comm comm;
  CALL;
  MPI_Send(a, 8, MPI_DOUBLE, 1, 0, comm);
  work(x, 100);
}
// CHECK-DAG: stays blocking: Sessions:
// CHECK-DAG: @__overlap_off = weak
// NONE-NOT: @__overlap_off
// NONE: MPI_Send made nonblocking
