// The product behind an exchange runs the rows that need no halo; functions are inlined for it, whose ends would part them. The
// message is noted where it starts, taken over where it was waited for, and what may meet it between is compared.
// RUN: %set %openmpi -fno-inline %s | FileCheck %s
// RUN: %set %mpich -fno-inline %s | FileCheck %s
// RUN: %set,strength=extended %openmpi -fno-inline %s | FileCheck --check-prefix=NOT %s
// RUN: %set %openmpi -fno-inline -DSTATUS %s | FileCheck --check-prefix=NOT %s
// RUN: %set %openmpi -fno-inline -DSUM %s | FileCheck --check-prefix=NOT %s
// RUN: %set %openmpi -fno-inline -DFREES %s | FileCheck --check-prefix=NOT %s
// RUN: %set %openmpi -fno-inline -DPASSES %s | FileCheck --check-prefix=NOT %s
// RUN: %set %openmpi -fno-inline -DSAME %s | FileCheck --check-prefix=NOT %s
#include "mpi.h"
#ifdef FREES
void free(void *);
#endif
double exchange(double *x, const double *out, int n, MPI_Request *q) {
  MPI_Status status;
  double at = MPI_Wtime();
  MPI_Irecv(x + n, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, q);
  MPI_Send(out, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  MPI_Wait(q, &status);
#ifdef STATUS
  // The status is read.
  return status.MPI_SOURCE;
#endif
#ifdef FREES
  // Memory that a message may lie in.
  free(q);
#endif
  return MPI_Wtime() - at;
}
double product(const double *v, const int *c, const double *x, double *y, int n) {
  double last = 0;
  for (int i = 0; i < n; i++) {
#if defined SUM
    // A sum over passes keeps its order.
    last += v[i] * x[c[i]];
#elif defined PASSES
    // A pass leaves something to the next.
    y[i] = last;
    last = v[i] * x[c[i]];
#elif defined SAME
    // Two passes may write to one place.
    y[c[i]] = v[i] * x[i];
#else
    y[i] = v[i] * x[c[i]];
#endif
  }
  return last;
}
double f(const double *v, const int *c, double *x, double *y, double *out, int n, MPI_Request *q, double *seconds) {
  *seconds = exchange(x, out, n, q);
  return product(v, c, x, y, n);
}
// CHECK-DAG: :19:3: remark: MPI_Send is ended later with frontier: 1 loops of {{[0-9]+}} weighted instructions defer the passes that need it
// CHECK-DAG: :20:3: remark: MPI_Wait is ended later with frontier: 1 loops of {{[0-9]+}} weighted instructions defer the passes that need it
// CHECK-LABEL: define {{.*}}@f(
// CHECK: [[LIST:%.*]] = alloca [7 x i64]
// CHECK: call void @llvm.memset.p0.i64(ptr {{.*}}[[LIST]], i8 0, i64 56
// CHECK: call void @__overlap_later_guard(ptr {{.*}}[[LIST]], ptr {{.*}}, i64 800, i32 1)
// CHECK-NEXT: call i32 @MPI_Irecv(
// CHECK: call void @__overlap_later_note(ptr {{.*}}[[LIST]], ptr {{.*}}, ptr {{.*}}, i64 800, i32 1)
// CHECK: call i32 @overlap.later.MPI_Send.8(ptr {{.*}}[[LIST]],
// CHECK: call i32 @overlap.later.MPI_Wait(ptr {{.*}}[[LIST]],
// CHECK: call void @__overlap_later_guard(ptr {{.*}}[[LIST]], ptr {{.*}}, i64 8, i32 1)
// CHECK-NEXT: store double
// CHECK: call i32 @__overlap_later_is_worth(ptr {{.*}}[[LIST]],
// CHECK: call void @__overlap_later_passes(ptr {{.*}}[[LIST]], i64 {{.*}}, ptr {{.*}}look, ptr {{.*}}passes, ptr {{[^,]*}}, i64 9223372036854775807, ptr {{.*}}@overlap.site
// CHECK: call void @__overlap_later_end(ptr {{.*}}[[LIST]])
// CHECK: fmul
// CHECK: call void @__overlap_later_end(ptr {{.*}}[[LIST]])
// CHECK-NEXT: ret double
// CHECK: define internal {{.*}} @overlap.later.MPI_Send.8(
// CHECK: call ptr @__overlap_later_send(
// CHECK: call i32 @MPI_Isend(
// CHECK: call i32 @MPI_Send(
// CHECK: define internal i32 @f.later.look(
// CHECK-NOT: fmul
// CHECK: define internal void @f.later.passes(
// NOT-LABEL: define {{.*}}@f(
// NOT-NOT: __overlap_later
// NOT: ret double
