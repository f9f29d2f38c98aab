// A start in a branch has an address, and a length, of its own, which are not there where both ways meet: they are computed in
// front of the loop. A request of a variable is compared with a loop over memory that comes from anywhere.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
void branches(double *u, double *restrict v, int rows, int n, int up, int down) {
  MPI_Request q[2];
  int started = 0;
  if (up >= 0)
    MPI_Irecv(u, n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &q[started++]);
  if (down >= 0)
    MPI_Irecv(u + (rows + 1) * (long)n, 2 * n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &q[started++]);
  MPI_Waitall(started, q, MPI_STATUS_IGNORE);
  for (long i = 1; i <= rows; i++)
    for (long j = 0; j < n; j++)
      v[i * n + j] = 0.5 * (u[(i - 1) * n + j] + u[(i + 1) * n + j]);
}
struct grid {
  double *u, *v;
};
void anywhere(struct grid *g, int rows, int n, int up, int down) {
  MPI_Request q[2];
  int started = 0;
  double *u = g->u, *v = g->v;
  if (up >= 0)
    MPI_Irecv(u, n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &q[started++]);
  if (down >= 0)
    MPI_Irecv(u + (rows + 1) * (long)n, n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &q[started++]);
  MPI_Waitall(started, q, MPI_STATUS_IGNORE);
  for (long i = 1; i <= rows; i++)
    for (long j = 0; j < n; j++)
      v[i * n + j] = 0.5 * (u[(i - 1) * n + j] + u[(i + 1) * n + j]);
}
// Where nothing was started this is no address of anything: nothing is loaded for the sake of the comparison.
void loaded(double **u, double *restrict v, int n, int up) {
  MPI_Request q[2];
  int started = 0;
  if (up >= 0)
    MPI_Irecv(u[1], n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &q[started++]);
  MPI_Waitall(started, q, MPI_STATUS_IGNORE);
  for (long i = 0; i < n; i++)
    v[i] = u[0][i];
}
// CHECK: MPI_Waitall widened {{.*}} 1 loops split into interior and border
// CHECK: MPI_Waitall widened {{.*}} 1 loops split into interior and border
// CHECK-NOT: loops split
// CHECK-LABEL: @branches(
// CHECK: call i32 @MPI_Irecv(
// CHECK: freeze
// CHECK: call i32 @MPI_Waitall(
// CHECK: fmul
