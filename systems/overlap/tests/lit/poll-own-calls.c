// Loops between the program's own start and its end ask without touching its requests. Not if another thread may call MPI
// meanwhile, not past the end of MPI, and not if the program asks itself.
// RUN: %set,progress=on %openmpi %s | FileCheck %s
// RUN: %set,progress=on %mpich %s | FileCheck %s
#include "mpi.h"
void unlock(void);
static inline void nest(double *restrict x, int n) {
  for (int j = 0; j < n; j++)
    for (int i = 1; i < n; i++)
      x[i] = x[i] * 0.5 + x[i - 1] + x[i + 1] * 3;
}
void one(double *restrict a, double *restrict x, int n) {
  MPI_Request request;
  MPI_Irecv(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  nest(x, n);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  a[0] = 1;
}
void many(double *restrict a, double *restrict x, int n) {
  MPI_Request requests[8];
  for (int i = 0; i < 8; i++)
    MPI_Irecv(a + 100 * i, 100, MPI_DOUBLE, i, 0, MPI_COMM_WORLD, &requests[i]);
  nest(x, n);
  for (int i = 0; i < 8; i++)
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  a[0] = 1;
}
void locked(double *restrict a, double *restrict x, int n) {
  MPI_Request request;
  MPI_Irecv(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  unlock();
  nest(x, n);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  a[0] = 1;
}
int MPI_Finalize(void);
void finishes(double *restrict a, double *restrict x, int n) {
  MPI_Request request;
  MPI_Irecv(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  if (n > 9)
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  nest(x, n);
}
int asked(double *restrict a, double *restrict x, int n) {
  MPI_Request request;
  int flag;
  MPI_Irecv(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  nest(x, n);
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  return flag;
}
// CHECK: MPI_Wait stays where it is: AlreadyWide: {{.*}}; its window has 1 polls
// CHECK: MPI_Wait stays where it is: WaitInOtherLoop: {{.*}}; its window has 1 polls
// CHECK-LABEL: @one(
// CHECK: store i32 0, ptr [[STATE:%[^,]+]],
// CHECK: call i32 @MPI_Irecv
// CHECK-NEXT: store i32 2, ptr [[STATE]],
// CHECK: call {{.*}}i32 @overlap.poll(ptr {{.*}}[[STATE]],
// CHECK: store i32 0, ptr [[STATE]],
// CHECK-NEXT: call i32 @MPI_Wait
// CHECK-LABEL: @many(
// CHECK: call {{.*}}i32 @overlap.poll
// CHECK-LABEL: @locked(
// CHECK-NOT: overlap.poll
// CHECK-LABEL: @finishes(
// CHECK-NOT: overlap.poll
// CHECK-LABEL: @asked(
// CHECK-NOT: overlap.poll
// CHECK: define internal {{.*}}i32 @overlap.poll
// CHECK: call i32 @MPI_Iprobe(
