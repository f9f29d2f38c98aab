// The rows that are sent are computed first, the others while the message is under way; what was sent before says which they are.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
// RUN: %set,progress=on %openmpi %s | FileCheck --check-prefix=POLLS %s
// RUN: %set,strength=extended %openmpi %s | FileCheck --check-prefix=NOT %s
// RUN: %set %openmpi -DSUM %s | FileCheck --check-prefix=NOT %s
// RUN: %set %openmpi -DSAME %s | FileCheck --check-prefix=NOT %s
// RUN: %set %openmpi -DANYWHERE %s | FileCheck --check-prefix=NOT %s
// RUN: %set %openmpi -DWRITES %s | FileCheck --check-prefix=NOT %s
// RUN: %set %openmpi -DCALLS %s | FileCheck --check-prefix=NOT %s
// RUN: %set %openmpi -DREADS %s | FileCheck --check-prefix=READS %s
// RUN: %set %openmpi -DWAITS %s | FileCheck --check-prefix=WAITS %s
#include "mpi.h"
void print(void);
#ifdef ANYWHERE
#define restrict
#endif
double f(double *restrict p, double *restrict a, const int *restrict c, int n, int at) {
  double last = 0;
  MPI_Request q;
  for (int i = 0; i < n; i++) {
#if defined SUM
    // A sum over passes keeps its order.
    last += a[i];
    p[i] = last;
#elif defined SAME
    // Two passes may write to one place.
    p[c[i]] = a[i];
#else
    p[i] = last = a[c[i]];
#endif
  }
#ifdef WRITES
  // Passes that are left would read it.
  a[at] = 0;
#endif
#ifdef CALLS
  print();
#endif
#ifdef READS
  // Passes that are left may write it.
  at += p[7];
#endif
#ifdef WAITS
  MPI_Isend(p + at, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q);
  MPI_Wait(&q, MPI_STATUS_IGNORE);
#else
  MPI_Send(p + at, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
#endif
  p[at] = 0;
  return last;
}
// CHECK: fills-first.c:48:3: remark: MPI_Send made nonblocking with frontier: the passes that fill its message run first, the others while it is under way, of a loop of {{[0-9]+}} weighted instructions
// CHECK: @overlap.sent = internal global [9 x i64] zeroinitializer
// CHECK-LABEL: define {{.*}}@f(
// CHECK: [[LIST:%.*]] = alloca [19 x i64]
// CHECK: call void @llvm.memset.p0.i64(ptr {{.*}}[[LIST]], i8 0, i64 152
// CHECK: call void @__overlap_first_end(ptr {{.*}}[[LIST]])
// CHECK: call i32 @__overlap_first_look(ptr {{.*}}[[LIST]], ptr {{.*}}@overlap.sent, i64 {{.*}}, i64 1, ptr {{.*}}, i64 0, i32 1)
// CHECK: call void @__overlap_first_run(ptr {{.*}}[[LIST]], ptr {{.*}}@f.passes, ptr
// CHECK: call void @overlap.extents(i32
// CHECK: call {{.*}}i32 @__overlap_first_sends(ptr {{.*}}[[LIST]],
// CHECK: call i32 @overlap.start.MPI_Send(
// CHECK-NEXT: call void @__overlap_first_rest(ptr {{.*}}[[LIST]], ptr null,
// CHECK-NEXT: call void @overlap.wait(
// CHECK: call i32 @MPI_Send(
// CHECK: define internal void @f.passes(
// POLLS: call void @__overlap_first_rest(ptr {{.*}}, ptr {{.*}}@overlap.poll,
// NOT-NOT: __overlap_first
// READS: call void @__overlap_first_guard(ptr {{.*}}, ptr {{.*}}, i64 8)
// READS-NEXT: load double
// WAITS: remark: MPI_Wait has more to wait for with frontier: the passes that fill a message run first
// WAITS: call {{.*}}i32 @__overlap_first_sends(
// WAITS-NEXT: call i32 @MPI_Isend(
// WAITS: call void @__overlap_first_rest(
// WAITS: call i32 @MPI_Wait(
