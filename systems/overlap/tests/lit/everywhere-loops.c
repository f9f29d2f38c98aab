// Which loops poll: not the innermost one where a loop around it can; between strips of an innermost loop whose passes are
// short, or where it is a guess that they are long; at every pass of a loop that cannot be cut;
// a loop known to be short nowhere. A function that polls is no longer free of effects, nor is one that calls it.
// RUN: %set,progress=auto,convert=none %openmpi -fno-inline -fno-unroll-loops %s | FileCheck %s
#include "mpi.h"
void rows(double *restrict y, const double *restrict a, const int *restrict column, const int *restrict row, const double *restrict x, int n) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = row[i]; k < row[i + 1]; k++)
      s += a[k] * x[column[k]];
    y[i] = s;
  }
}
int find(const double *restrict x, int n, double what) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = 0; k < n; k++)
      s += x[k] * x[k + i];
    if (s > what)
      return i;
  }
  return -1;
}
void short_one(double *restrict x) {
  for (int i = 1; i < 30; i++)
    x[i] = x[i] * 0.5 + x[i - 1];
}
__attribute__((pure)) double norm(const double *restrict x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += x[i] * x[i];
  return s;
}
double twice(const double *restrict x, int n) { return 2 * norm(x, n); }
// CHECK: everywhere-loops.c:7:3: remark: loop polls while requests are pending, between strips of about 100 us
// CHECK: everywhere-loops.c:15:3: remark: loop polls while requests are pending, at the end of each pass
// CHECK: everywhere-loops.c:30:3: remark: loop polls while requests are pending, between strips of about 100 us
// CHECK-NOT: remark: loop polls
// CHECK-LABEL: @twice(
// CHECK: call double @norm(
// CHECK-NOT: attributes {{.*}}memory(argmem: read)
