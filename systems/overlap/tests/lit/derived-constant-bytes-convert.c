// Displacements in bytes that are constants name places in the buffer, like counted elements.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
#include <stddef.h>
struct particle {
  double place[3];
  int kind;
};
void f(struct particle *restrict p, double *restrict x, int n) {
  const int lengths[2] = {3, 1};
  const long places[2] = {offsetof(struct particle, place), offsetof(struct particle, kind)};
  const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
  MPI_Datatype fields, particle;
  MPI_Type_create_struct(2, lengths, places, types, &fields);
  MPI_Type_create_resized(fields, 0, sizeof(struct particle), &particle);
  MPI_Type_commit(&particle);
  MPI_Send(p, n, particle, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
  p[0].kind = 1;
}
void g(double *restrict a, double *restrict x) {
  int lengths[2] = {1, 2};
  long places[2];
  MPI_Datatype type;
  places[0] = 0;
  places[1] = 64;
  MPI_Type_create_hindexed(2, lengths, places, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Send(a, 1, type, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
  a[0] = 1;
}
// One of several types, chosen when it runs.
void h(double *restrict a, double *restrict x, int n, int whole) {
  MPI_Send(a, n, whole ? MPI_INT : MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// CHECK-COUNT-3: MPI_Send made nonblocking
// CHECK-LABEL: @f(
// CHECK: call i32 @overlap.start.MPI_Send.derived(
// CHECK: fmul
// CHECK: call void @overlap.wait(
// CHECK: store i32 1
// CHECK-LABEL: @g(
// CHECK: call i32 @overlap.start.MPI_Send.derived(
// CHECK: fmul
// CHECK: call void @overlap.wait(
// CHECK: store double 1.0
