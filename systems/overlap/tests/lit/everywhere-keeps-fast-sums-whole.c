// A sum over all rows that the compiler may reorder: in strips it would be reordered in another way, so the loop polls at each row; the
// same sum in its order does so between strips.
// RUN: %set,progress=auto,convert=none %openmpi -ffast-math -fno-inline -fno-unroll-loops %s | FileCheck %s --check-prefix=FAST
// RUN: %set,progress=auto,convert=none %openmpi -fno-inline -fno-unroll-loops %s | FileCheck %s --check-prefix=ORDER
#include "mpi.h"
double total(const double *restrict a, const int *restrict column, const int *restrict row, const double *restrict x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int k = row[i]; k < row[i + 1]; k++)
      s += a[k] * x[column[k]];
  return s;
}
// FAST: everywhere-keeps-fast-sums-whole.c:8:3: remark: loop polls while requests are pending, at the end of each pass
// ORDER: everywhere-keeps-fast-sums-whole.c:8:3: remark: loop polls while requests are pending, between strips of about 100 us
