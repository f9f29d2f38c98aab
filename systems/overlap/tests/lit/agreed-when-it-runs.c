// All ranks of a collective start it alike: they agree on that when it runs, so it may stand anywhere, on any communicator.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
int MPI_Comm_split(MPI_Comm, int, int, MPI_Comm *);
void elsewhere(void);
void of_some_ranks(double *restrict a, double *restrict x, int rank) {
  if (rank < 2) {
    MPI_Bcast(a, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work(x, 100);
  }
}
void of_a_part(double *restrict a, double *restrict b, double *restrict x, MPI_Comm part) {
  elsewhere();
  MPI_Scan(a, b, 100, MPI_DOUBLE, MPI_SUM, part);
  work(x, 100);
}
void (*called)(double *restrict, double *restrict, int) = of_some_ranks;
// CHECK-DAG: 9:5: remark: MPI_Bcast made nonblocking
// CHECK-DAG: 15:3: remark: MPI_Scan made nonblocking
// CHECK: define internal i32 @overlap.start.MPI_Bcast(
// CHECK: call i32 @overlap.agrees(i32 %{{.*}}, i32 0, i64 %{{.*}}, {{i32|ptr}} %{{.*}}, {{i32|ptr}} %{{.*}})
// CHECK: call i32 @MPI_Ibcast(
// CHECK: call i32 @MPI_Bcast(
// CHECK: define internal {{.*}}i32 @overlap.agrees(
// CHECK: icmp ne ptr @__overlap_agreed, null
// CHECK: define internal i32 @overlap.start.MPI_Scan(
// CHECK: call i32 @overlap.agrees(i32 %{{.*}}, i32 6, i64
