// Where the requests are, memory says, and as far as LLVM knows each start may write that. It does not: what a message brings is not
// read while it is pending, and a request is no pointer to requests.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
// RUN: %set %openmpi -fno-strict-aliasing %s | FileCheck %s --check-prefix=ANY
#include "mpi.h"
struct halo {
  double *in, *out;
  MPI_Request *requests;
};
void f(struct halo *h, double *restrict x) {
  MPI_Irecv(h->in, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h->requests[0]);
  for (int i = 0; i < 8; i++)
    h->out[i] = x[i];
  MPI_Isend(h->out, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h->requests[1]);
  MPI_Waitall(2, h->requests, MPI_STATUS_IGNORE);
  work(x, 100);
}
// Another array in between; the one start and the wait have different ones.
void grows(struct halo *h, double *restrict x, MPI_Request *larger) {
  MPI_Irecv(h->in, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h->requests[0]);
  h->requests = larger;
  MPI_Isend(h->out, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h->requests[1]);
  MPI_Waitall(2, h->requests, MPI_STATUS_IGNORE);
  work(x, 100);
}
// A pointer is stored that may be the one to the requests.
void stores(struct halo *h, double *restrict x, void **any, void *p) {
  MPI_Irecv(h->in, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h->requests[0]);
  *any = p;
  MPI_Isend(h->out, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &h->requests[1]);
  MPI_Waitall(2, h->requests, MPI_STATUS_IGNORE);
  work(x, 100);
}
// CHECK: c:16:{{.*}}MPI_Waitall widened
// CHECK: c:24:{{.*}}MPI_Waitall stays where it is: RequestInMemory
// CHECK: c:32:{{.*}}MPI_Waitall stays where it is: RequestInMemory
// CHECK-LABEL: @f(
// CHECK: call i32 @MPI_Isend
// CHECK: fmul
// CHECK: call i32 @MPI_Waitall
// ANY-NOT: widened
// ANY-COUNT-3: MPI_Waitall stays where it is: RequestInMemory
