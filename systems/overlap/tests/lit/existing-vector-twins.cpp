// What another file may do with a vector, or with operator delete.
// RUN: %set %openmpi++ %s | FileCheck %s
// RUN: %set %mpich++ %s | FileCheck %s
#include "mpi.h"
#include <vector>
// A function that is not known keeps its address.
void kept(std::vector<MPI_Request> &);
void given(double *__restrict a, double *__restrict x) {
  std::vector<MPI_Request> requests(1);
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
  kept(requests);
  MPI_Waitall(1, requests.data(), MPI_STATUS_IGNORE);
  work(x, 100);
}
// Another file may have an operator delete of its own, which frees and counts.
extern long frees;
long counts(double *__restrict a, double *__restrict x) {
  MPI_Request *requests = new MPI_Request[1];
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  delete[] requests;
  long until = frees;
  work(x, 100);
  return until;
}
// CHECK-DAG: remark: MPI_Waitall stays where it is: MayThrow
// CHECK-LABEL: @_Z6countsPdS_(
// CHECK: @MPI_Wait(
// CHECK: call void @_ZdaPv
// CHECK: fmul
