// Line numbers that only our remarks asked for go when the remarks are written; debug information that was asked for stays.
// RUN: env MEANWHILE_OVERLAP=min-bytes=0,min-weight=1,progress=off,lines=drop %openmpi %s | FileCheck %s
// RUN: env MEANWHILE_OVERLAP=min-bytes=0,min-weight=1,progress=off,lines=drop %openmpi -O0 %s | FileCheck --check-prefix=NONE %s
// RUN: env MEANWHILE_OVERLAP=min-bytes=0,min-weight=1,progress=off,lines=keep %openmpi %s | FileCheck --check-prefix=KEPT %s
// RUN: env MEANWHILE_OVERLAP=min-bytes=0,min-weight=1,progress=off,lines=drop %openmpi -g %s | FileCheck --check-prefix=KEPT %s
// RUN: env MEANWHILE_OVERLAP=min-bytes=0,min-weight=1,progress=off,lines=drop %openmpi -g1 %s | FileCheck --check-prefix=KEPT %s
#include "mpi.h"
double f(double *restrict a, double *restrict x, int n) {
  MPI_Recv(a, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work(x, 100);
  return a[0];
}
// CHECK: lines-go-behind-remarks.c:[[# @LINE - 4]]:3: remark: MPI_Recv made nonblocking
// CHECK-NOT: {{!dbg|DICompileUnit}}
// CHECK: call {{.*}}@overlap.start.MPI_Recv
// CHECK-NOT: {{!dbg|DICompileUnit}}
// NONE-NOT: {{!dbg|DICompileUnit}}
// KEPT: call {{.*}}@overlap.start.MPI_Recv{{.*}} !dbg
// KEPT: DICompileUnit
