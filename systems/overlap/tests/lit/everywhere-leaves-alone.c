// What may run in the middle of anything does not poll: a handler of signals, a function that MPI calls, an allocator with
// all of its file. A sum whose order is the compiler's to choose keeps its order.
// RUN: %set,progress=auto,convert=none %openmpi -fno-inline %s | FileCheck %s
// RUN: %set,progress=auto,convert=none %mpich -fno-inline %s | FileCheck %s
// RUN: %set,progress=auto,convert=none %openmpi -fno-inline -DALLOCATOR %s | FileCheck --check-prefix=ALLOCATOR %s
// RUN: %set,progress=auto,convert=none %openmpi -fno-inline -ffast-math %s | FileCheck --check-prefix=FAST %s
#include "mpi.h"
typedef void MPI_User_function(void *, void *, int *, MPI_Datatype *);
int MPI_Op_create(MPI_User_function *, int, MPI_Op *);
void (*signal(int, void (*)(int)))(int);
static double x[1 << 20];
static void handler(int n) {
  for (int i = 1; i < 1 << 20; i++)
    x[i] = x[i] * 0.5 + x[i - 1];
}
static void operation(void *in, void *out, int *n, MPI_Datatype *type) {
  for (int i = 0; i < *n; i++)
    ((double *)out)[i] += ((double *)in)[i];
}
void set(MPI_Op *op) {
  signal(10, handler);
  MPI_Op_create(operation, 1, op);
}
double sum(const double *restrict a, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}
#ifdef ALLOCATOR
void *malloc(unsigned long size) {
  static char pool[1 << 20];
  for (unsigned long i = 0; i < size; i++)
    pool[i] = 1;
  return pool;
}
#endif
// CHECK: everywhere-leaves-alone.c:26:3: remark: loop polls
// CHECK-NOT: remark: loop polls
// CHECK-LABEL: @handler(
// CHECK-NOT: __overlap_poll_after
// CHECK-LABEL: @operation(
// CHECK-NOT: __overlap_poll_after
// CHECK-LABEL: @sum(
// CHECK: __overlap_poll_after
// FAST-NOT: remark: loop polls
// ALLOCATOR-NOT: __overlap_poll_after
