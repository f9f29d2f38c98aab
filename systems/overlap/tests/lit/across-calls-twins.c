// A caller of two functions of other files, which have an array in common, goes by what those files offer, if they do; what offers
// nothing is called as it is, with nothing pending.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void exchange(double *x, const double *out, int n);
double now(void);
int product(const double *v, double *x, double *y, int n);
void f(const double *v, double *x, double *y, double *out, int n, double *seconds) {
  exchange(x, out, n);
  double at = now();
  *seconds = 0;
  int code = product(v, x, y, n);
  *seconds = at - code;
}
// Nothing in common, or something between that may do anything.
void g(double *x, double *y, double *out, int n) {
  exchange(x, out, n);
  MPI_Barrier(MPI_COMM_WORLD);
  product(x, y, x, n);
}
void h(double *a, double *b, double *c, double *d, int n) {
  exchange(a, b, n);
  product(c, d, d, n);
}
// The call would copy what is pending; another function may be in the place of this one.
struct cells {
  double at[100];
};
void copies(struct cells x, double *y);
__attribute__((weak)) void replaced(const int *c, const double *x, double *y, int n) {
  for (int i = 0; i < n; i++)
    y[i] = x[c[i]];
}
void i(struct cells *x, double *y, double *out, int n) {
  exchange((double *)x, out, n);
  copies(*x, y);
}
// What is received into is known to somebody else.
__attribute__((malloc)) double *received(struct cells *x);
void makes(double *x, double *y);
double j(struct cells *x) {
  double *in = received(x);
  makes((double *)x, in);
  return in[1];
}
// CHECK-LABEL: @f(
// CHECK: icmp {{eq|ne}} ptr @__overlap_leaves_1.exchange.ppi32, null
// CHECK: call void @exchange(
// CHECK-NEXT: call double @now()
// CHECK-NEXT: store double
// CHECK-NEXT: call i32 @product(
// CHECK: call void @exchange.relay(ptr {{.*}}, ptr {{.*}}, i32 {{.*}}, ptr {{[^%]*}}[[LIST:%.*]])
// CHECK-NEXT: call double @now.relay(ptr {{.*}}[[LIST]])
// CHECK-NEXT: call void @__overlap_later_guard(ptr {{.*}}[[LIST]], ptr {{.*}}, i64 8, i32 1)
// CHECK-NEXT: store double
// CHECK-NEXT: call i32 @product.relay({{.*}}[[LIST]])
// CHECK-NEXT: call void @__overlap_later_end(ptr {{.*}}[[LIST]])
// CHECK-LABEL: @g(
// CHECK-NOT: @__overlap
// CHECK: ret void
// CHECK-LABEL: @h(
// CHECK-NOT: @__overlap
// CHECK: ret void
// CHECK-NOT: @__overlap_takes_1.replaced
// CHECK-LABEL: @i(
// CHECK-NOT: @__overlap
// CHECK: ret void
// CHECK-LABEL: @j(
// CHECK: call ptr @received.relay(
// What a function offers is called once in a file. Another one may be in its place, as with --wrap; then, and where nothing is
// offered, it is called as it is.
// CHECK-LABEL: define internal void @exchange.relay(
// CHECK-SAME: ptr {{.*}}, ptr {{.*}}, i32 {{.*}}, ptr [[LIST:%[0-9]+]])
// CHECK-DAG: icmp ne ptr @__overlap_leaves_1.exchange.ppi32, null
// CHECK-DAG: icmp eq ptr @__overlap_is_1.exchange.ppi32, @exchange
// CHECK: call void @__overlap_leaves_1.exchange.ppi32({{.*}}[[LIST]])
// CHECK: call void @__overlap_takes_1.exchange.ppi32({{.*}}[[LIST]])
// CHECK: call void @__overlap_later_end(ptr [[LIST]])
// CHECK-NEXT: call void @exchange(
// CHECK-LABEL: define internal double @now.relay(
// CHECK-NOT: @__overlap_leaves_1
// CHECK: call double @__overlap_takes_1.now.(ptr
// CHECK-LABEL: define internal i32 @product.relay(
// CHECK: call i32 @__overlap_takes_1.product.pppi32(
// CHECK-LABEL: define internal ptr @received.relay(
// CHECK: ret ptr
