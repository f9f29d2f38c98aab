// No call is changed with `convert=none`: requests are counted around the program's own calls, and are below 0 inside MPI; a
// loop that may be long asks between two strips, in a file without MPI too. A C function `mpi_tool` is none of MPI's. The
// functions are hidden: the dynamic linker would not keep the registers that a poll keeps.
// RUN: %set,progress=auto,convert=none %openmpi -fno-inline %s | FileCheck %s
// RUN: %set,progress=auto,convert=none %mpich -fno-inline %s | FileCheck %s
// RUN: %set,progress=auto,convert=none %mpich -fno-inline -DNO_MPI %s | FileCheck --check-prefix=NONE %s
// RUN: %set,progress=auto,convert=none clang-19 -O0 -Xclang -disable-O0-optnone -DMPICH -I%S/inputs -S -emit-llvm %s -o %t.ll
// RUN: %set,progress=auto,convert=none %opt -passes='default<O2>' %t.ll -o %t.once.ll
// RUN: %set,progress=auto,convert=none %opt -passes='default<O2>' %t.once.ll | FileCheck --check-prefix=TWICE %s
// RUN: %set,progress=off,convert=none %mpich -fno-inline %s | FileCheck --check-prefix=OFF %s
#include "mpi.h"
double f(double *restrict x, int n) {
  for (int i = 1; i < n; i++)
    x[i] = x[i] * 0.5 + x[i - 1];
  return x[n - 1];
}
#ifndef NO_MPI
void g(double *restrict a, double *restrict x, int n, MPI_Request *q) {
  MPI_Irecv(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, q);
  MPI_Send(x, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
}
int h(MPI_Request *q, int *which) {
  MPI_Waitany(3, q, which, MPI_STATUS_IGNORE);
  return *which;
}
int k(MPI_Request *q, int *done) {
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Test(q, done, MPI_STATUS_IGNORE);
  return me;
}
void mpi_tool(double *);
void m(double *x) { mpi_tool(x); }
#endif
// CHECK: everywhere-counts-and-polls.c:[[@LINE-22]]:3: remark: loop polls while requests are pending, between strips of about 100 us
// CHECK-NOT: overlap.start
// CHECK-LABEL: @f(
// CHECK-DAG: [[PENDING:%.*]] = load i32, ptr {{.*}}
// CHECK-DAG: icmp sgt i32 [[PENDING]], 0
// CHECK-DAG: call {{.*}}void @__overlap_poll_after(ptr nonnull @overlap.place{{.*}}, i32 {{.*}}, i64 100000)
// CHECK-LABEL: @g(
// CHECK: [[INSIDE:%.*]] = add i32 {{.*}}, -16777216
// CHECK: store i32 [[INSIDE]], ptr [[COUNT:%.*]], align
// CHECK: call i32 @MPI_Irecv(
// CHECK: [[AGAIN:%.*]] = add i32 {{.*}}, 16777216
// CHECK: store i32 [[AGAIN]], ptr [[COUNT]]
// CHECK: call void @__overlap_started(i32 1)
// CHECK: add i32 {{.*}}, -16777216
// CHECK: call i32 @MPI_Send(
// CHECK-NOT: __overlap_started
// CHECK-LABEL: @h(
// CHECK: [[OPEN:%.*]] = {{.*}}call i32 @__overlap_open(i32 3, ptr {{.*}}, i32 0)
// CHECK: call i32 @MPI_Waitany(
// CHECK: call void @__overlap_ended(i32 [[OPEN]], ptr {{.*}}null, ptr {{.*}}, ptr {{.*}}null)
// CHECK-LABEL: @k(
// CHECK-NOT: add i32 {{.*}}, -16777216
// CHECK: call i32 @MPI_Comm_rank(
// CHECK: call i32 @__overlap_open(i32 1,
// CHECK: call i32 @MPI_Test(
// CHECK: call void @__overlap_ended(
// CHECK-LABEL: @m(
// CHECK-NOT: -16777216
// CHECK: call void @mpi_tool(
// CHECK-DAG: define linkonce_odr hidden preserve_mostcc void @__overlap_poll_after(
// CHECK-DAG: define linkonce_odr hidden void @__overlap_poll_now({{.*}} #[[RARE:[0-9]+]]
// CHECK: attributes #[[RARE]] = { noinline {{.*}}optnone
// TWICE-LABEL: @f(
// TWICE: call {{.*}}void @__overlap_poll_after(
// TWICE-NOT: call {{.*}}void @__overlap_poll_after(
// TWICE-LABEL: @g(
// TWICE: call void @__overlap_started(i32 1)
// TWICE-NOT: call void @__overlap_started(
// TWICE-LABEL: @h(
// NONE: @__overlap_pending = linkonce_odr thread_local {{.*}}global i32 0, comdat
// NONE: call {{.*}}void @__overlap_poll_after(
// NONE-NOT: @__overlap_started
// OFF-NOT: __overlap
