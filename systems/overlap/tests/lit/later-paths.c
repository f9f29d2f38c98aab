// Only what a loop gains from is put off: not the messages of a path that does not lead to it, nor those behind whose end
// something ends them all.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
// RUN: %set %openmpi -DENDS %s | FileCheck --check-prefix=ENDS %s
// RUN: %set %mpich -DENDS %s | FileCheck --check-prefix=ENDS %s
#include "mpi.h"
void unknown(void);
void f(const double *v, const int *c, double *x, double *y, const double *out, int n, int path) {
  MPI_Request q;
  MPI_Irecv(x + n, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q);
  if (path) {
    MPI_Send(out, 100, MPI_DOUBLE, 2, 1, MPI_COMM_WORLD);
    MPI_Send(out, 100, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Send(out, 100, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
#ifdef ENDS
  unknown();
#endif
  MPI_Wait(&q, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; i++)
    y[i] = v[i] * x[c[i]];
}
// CHECK-NOT: :13:5: remark: MPI_Send is ended later
// CHECK-NOT: :14:5: remark: MPI_Send is ended later
// CHECK-DAG: :18:3: remark: MPI_Send is ended later with frontier: 1 loops
// CHECK-DAG: :22:3: remark: MPI_Wait is ended later with frontier: 1 loops
// CHECK-LABEL: define {{.*}}@f(
// CHECK-DAG: call i32 @MPI_{{Is|S}}end({{.*}}, i32 {{(noundef )?}}2, i32 {{(noundef )?}}1,
// CHECK-DAG: call i32 @overlap.later.MPI_Send.8({{.*}}, i32 {{(noundef )?}}1, i32 {{(noundef )?}}3,
// ENDS-NOT: is ended later
