// A file that holds an exchange, or a loop that could wait for one, offers its part to callers in other files: a hidden function that
// leaves messages pending in a list, or is called with some. What could be replaced by another one offers nothing.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
// RUN: %set,strength=extended %openmpi %s | FileCheck --check-prefix=NOT %s
// RUN: %set,handlers=never-throw %openmpi -fPIC %s | FileCheck --check-prefix=NOT %s
#include "mpi.h"
void exchange(double *x, const double *out, int n, MPI_Request *q) {
  MPI_Status status;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(x + n, 100, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, q);
  MPI_Send(out, 100, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
  MPI_Wait(q, &status);
}
double now(void) { return MPI_Wtime(); }
void product(const double *v, const int *c, const double *restrict x, double *y, int n) {
  for (int i = 0; i < n; i++)
    y[i] = v[i] * x[c[i]];
}
// Nothing is gained from these: they could not wait, or nobody else can call them.
double sum(const double *v, const int *c, const double *x, int n) {
  double all = 0;
  for (int i = 0; i < n; i++)
    all += v[i] * x[c[i]];
  return all;
}
// A look at a pass would take longer than the pass; what the exchange itself unpacks is not put off.
void unpacks(double *restrict x, double *restrict in, int n, MPI_Request *q) {
  MPI_Status status;
  MPI_Irecv(in, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, q);
  MPI_Wait(q, &status);
  for (int i = 0; i < n; i++)
    x[i] = in[i];
}
void elsewhere(void);
void does_anything_first(const int *c, const double *x, double *y, int n) {
  elsewhere();
  for (int i = 0; i < n; i++)
    y[i] = x[c[i]];
}
__attribute__((weak)) void weak(const int *c, const double *x, double *y, int n) {
  for (int i = 0; i < n; i++)
    y[i] = x[c[i]];
}
// What is sent from is gone when these return.
double *told(double *room);
void from_room(double *x, const double *out, int n) {
  MPI_Request q;
  double *room = __builtin_alloca(n * sizeof *room);
  for (int i = 0; i < n; i++)
    room[i] = out[i];
  MPI_Irecv(x, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q);
  MPI_Send(room, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  MPI_Wait(&q, MPI_STATUS_IGNORE);
}
void from_told(double *x) {
  MPI_Request q;
  double room[100];
  double *out = told(room);
  MPI_Irecv(x, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q);
  MPI_Send(out, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  MPI_Wait(&q, MPI_STATUS_IGNORE);
}
__attribute__((noinline)) static double mine(void) { return MPI_Wtime() * 2; }
double uses(void) { return mine() + mine(); }
// CHECK-NOT: from_
// CHECK: :{{.*}}: remark: exchange of exchange may stay pending with frontier while a caller in another file goes on
// Its name for callers that ask if it is what they call.
// CHECK: @__overlap_is_1.exchange.ppi32p = hidden alias void ({{.*}}), ptr @exchange
// As it is written for callers that have nothing to do meanwhile.
// CHECK-LABEL: define {{.*}}void @exchange(
// CHECK-NOT: __overlap
// CHECK: ret void
// CHECK-NOT: @__overlap_takes_1.sum
// CHECK-NOT: @__overlap_leaves_1.unpacks
// CHECK-NOT: @__overlap_leaves_1.from_
// CHECK: define hidden void @__overlap_leaves_1.exchange.ppi32p(ptr {{[^,]*}}, ptr {{[^,]*}}, i32 {{[^,]*}}, ptr {{[^,]*}}, ptr [[LIST:[^)]*]])
// CHECK: call void @__overlap_later_end(ptr {{.*}}[[LIST]])
// CHECK: call void @__overlap_later_note(ptr {{.*}}[[LIST]],
// CHECK: call i32 @overlap.later.MPI_Send.8(ptr {{.*}}[[LIST]],
// CHECK: call i32 @overlap.later.MPI_Wait(ptr {{.*}}[[LIST]],
// CHECK-NOT: __overlap_later
// CHECK: ret void
// CHECK: define hidden double @__overlap_takes_1.now.(ptr
// CHECK-NOT: __overlap_later
// CHECK: ret double
// A message of the caller's is received into what is `restrict` here.
// CHECK: define hidden void @__overlap_takes_1.product.ppppi32(
// CHECK-NOT: noalias
// CHECK-SAME: {
// With too little pending it goes by the function as it is written, so that the loop is not there once more.
// CHECK-NEXT: alloca
// CHECK-NEXT: call i32 @__overlap_later_is_worth(
// CHECK-NOT: fmul
// CHECK-DAG: call void @__overlap_later_passes(
// CHECK-DAG: call void @product(
// CHECK-NOT: fmul
// CHECK: {{^}}}
// CHECK-NOT: @__overlap_takes_1.sum
// CHECK-NOT: @__overlap_takes_1.weak
// CHECK-NOT: @__overlap_takes_1.mine
// NOT-NOT: @__overlap_leaves_1
// NOT-NOT: @__overlap_takes_1
