// Of a start by Fortran's binding in the same function, handles have 4 bytes: those of C's wait keep
// their own size, so that one start does not stand for two requests.
// RUN: %set %openmpi  %s | FileCheck %s
// RUN: %set %mpich  %s | FileCheck %s
#include "mpi.h"
extern MPI_Request q[2];
void mpi_irecv_(void *, int *, int *, int *, int *, int *, int *, int *);
// Another function has started the second.
void f(double *restrict a, double *restrict b, double *restrict x, int *n, int *type, int *comm,
       int *request, int *code) {
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q[0]);
  MPI_Waitall(2, q, 0);
  work(x, 100);
  mpi_irecv_(b, n, type, n, n, comm, request, code);
}
// Both are started here.
void both(double *restrict a, double *restrict b, double *restrict x) {
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q[0]);
  MPI_Irecv(b, 8, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &q[1]);
  MPI_Waitall(2, q, 0);
  work(x, 100);
}
// CHECK-DAG: :12:3: remark: MPI_Waitall stays where it is: RequestInMemory
// CHECK-DAG: :20:3: remark: MPI_Waitall widened
