// What a variable holds is asked when the program runs: types of MPI go on, others block. Of a
// collective that of what is received is asked: the other one means nothing to some ranks.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void f(double *restrict a, double *restrict x, MPI_Datatype type) {
  MPI_Send(a, 8, type, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
  a[0] = 1;
}
void g(double *restrict a, double *restrict b, double *restrict x, MPI_Datatype one, MPI_Datatype other) {
  MPI_Sendrecv(a, 8, one, 1, 0, b, 8, other, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work(x, 100);
}
void gather(double *restrict a, double *restrict b, double *restrict x, MPI_Datatype one, MPI_Datatype type) {
  MPI_Allgather(a, 8, one, b, 8, type, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK-DAG: :[[@LINE-12]]:3: remark: MPI_Send made nonblocking
// CHECK-DAG: :[[@LINE-8]]:3: remark: MPI_Sendrecv made nonblocking
// CHECK-DAG: :[[@LINE-5]]:3: remark: MPI_Allgather stays blocking: DerivedDatatype:
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Send.asked(
// CHECK: call void @overlap.wait(
// CHECK-NEXT: store double 1.0
// CHECK-LABEL: @g(
// CHECK: define internal i32 @overlap.start.MPI_Send.asked(
// CHECK: call i32 @overlap.is_named(
// CHECK: call i64 @overlap.size(
// CHECK: call i32 @MPI_Isend(
// CHECK: define internal {{.*}}i32 @overlap.is_named(
// CHECK: call i32 @MPI_Type_get_envelope(
// CHECK: icmp eq i32 {{.*}}, {{0|1$}}
// CHECK: call i32 @MPI_Type_size(
// CHECK: define internal i32 @overlap.start.MPI_Sendrecv.asked(
// CHECK-COUNT-2: call i32 @overlap.is_named(
