// Where nothing would be hidden, functions stay what they are: something reads the message at
// once, may use the requests, may call MPI, or needs the message in every pass.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
int MPI_Waitall(int, MPI_Request *, MPI_Status *);
void elsewhere(void);
void keep(MPI_Request *);
#define ROW 1000
#define APART __attribute__((noinline)) static
APART void swap(double *u, long n) {
  MPI_Request q[2];
  MPI_Irecv(u, ROW, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &q[0]);
  MPI_Isend(u + n * ROW, ROW, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &q[1]);
  MPI_Waitall(2, q, (MPI_Status *)0);
}
APART void swap_known(double *u, long n) {
  MPI_Request q[2];
  MPI_Irecv(u, ROW, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &q[0]);
  MPI_Isend(u + n * ROW, ROW, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &q[1]);
  keep(q);
  MPI_Waitall(2, q, (MPI_Status *)0);
}
APART void average(double *v, const double *u, long n) {
  for (long i = ROW; i < n * ROW; i++)
    v[i] = 0.5 * (u[i - ROW] + u[i]);
}
APART void loud(double *v, const double *u, long n) {
  for (long i = ROW; i < n * ROW; i++)
    v[i] = 0.5 * (u[i - ROW] + u[i]);
  elsewhere();
}
APART void unpack(double *v, const double *u, long n) {
  for (long i = 0; i < ROW; i++)
    v[i] = u[i];
}
// The halo is read before the loop.
double read(double *u, double *v, long n) {
  swap(u, n);
  double first = *(volatile double *)u;
  average(v, u, n);
  return first;
}
void escapes(double *u, double *v, long n) {
  swap_known(u, n);
  average(v, u, n);
}
void between(double *u, double *v, long n) {
  swap(u, n);
  elsewhere();
  average(v, u, n);
}
void inside(double *u, double *v, long n) {
  swap(u, n);
  loud(v, u, n);
}
void all(double *u, double *v, long n) {
  swap(u, n);
  unpack(v, u, n);
}
// CHECK-NOT: widened
// CHECK-LABEL: @read(
// CHECK: call {{.*}}@swap(
// CHECK: call {{.*}}@average(
// CHECK-LABEL: @escapes(
// CHECK: call {{.*}}@swap_known(
// CHECK: call {{.*}}@average(
// CHECK-LABEL: @between(
// CHECK: call {{.*}}@swap(
// CHECK: call {{.*}}@average(
// CHECK-LABEL: @inside(
// CHECK: call {{.*}}@swap(
// CHECK: call {{.*}}@loud(
// CHECK-LABEL: @all(
// CHECK: call {{.*}}@swap(
// CHECK: call {{.*}}@unpack(
