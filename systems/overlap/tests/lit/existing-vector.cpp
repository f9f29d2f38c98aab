// Requests, statuses and what is sent lie in vectors, which are freed behind the wait, wherever that is.
// RUN: %set %openmpi++ %s | FileCheck %s
// RUN: %set %mpich++ %s | FileCheck %s
#include "mpi.h"
#include <vector>
void f(double *__restrict a, double *__restrict x) {
  {
    std::vector<MPI_Request> requests(2);
    std::vector<MPI_Status> statuses(2);
    std::vector<double> sent(8, x[0]);
    MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent.data(), 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests.data(), statuses.data());
  }
  work(x, 100);
}
// Two waits: what both have is freed behind the last.
void two(double *__restrict a, double *__restrict x) {
  MPI_Request *requests = new MPI_Request[2];
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(a + 8, 8, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  delete[] requests;
  work(x, 100);
}
// A status is read before it is freed.
int reads(double *__restrict a, double *__restrict x) {
  int from;
  {
    std::vector<MPI_Request> requests(1);
    std::vector<MPI_Status> statuses(1);
    MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Waitall(1, requests.data(), statuses.data());
    from = statuses[0].MPI_SOURCE;
  }
  work(x, 100);
  return from;
}
// The vector gets longer, and lies elsewhere, between.
void grows(double *__restrict a, double *__restrict x, int more) {
  std::vector<MPI_Request> requests(1);
  MPI_Irecv(a, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
  requests.resize(1 + more);
  MPI_Waitall(1, requests.data(), MPI_STATUS_IGNORE);
  work(x, 100);
}
// The file is the whole program, so that nothing of another file sees what is freed when.
int main() { return 0; }
// CHECK-DAG: :13:5: remark: MPI_Waitall widened
// CHECK-DAG: :23:3: remark: MPI_Wait widened
// CHECK-DAG: :45:3: remark: MPI_Waitall stays where it is: RequestInMemory
// CHECK-LABEL: @_Z1fPdS_(
// CHECK: call {{.*}}@MPI_Isend
// CHECK: fmul
// CHECK: call {{.*}}@MPI_Waitall(
// CHECK-COUNT-3: call void @_ZdlPv
// CHECK-LABEL: @_Z3twoPdS_(
// CHECK: call i32 @MPI_Irecv
// CHECK: fmul
// CHECK: call i32 @MPI_Wait(
// CHECK: call i32 @MPI_Wait(
// CHECK-NEXT: call void @_ZdaPv
// CHECK-LABEL: @_Z5readsPdS_(
// CHECK: call {{.*}}@MPI_Waitall(
// CHECK: load i32
// CHECK: call void @_ZdlPv
// CHECK: fmul
