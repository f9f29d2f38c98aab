// What all ranks find in a variable they find alike, so all of them start the broadcast or none; where a type depends on the
// rank, the call stays.
// RUN: %set %openmpi %s | FileCheck %s
// RUN: %set %mpich %s | FileCheck %s
#include "mpi.h"
int main(int argc, char **argv) {
  static double a[100], b[100], x[100];
  int me;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Datatype same, other;
  MPI_Type_contiguous(2, MPI_INT, &same);
  MPI_Type_contiguous(2, MPI_INT, &other);
  if (argc > 1)
    same = MPI_DOUBLE;
  if (me)
    other = MPI_DOUBLE;
  MPI_Bcast(a, 100, same, 0, MPI_COMM_WORLD);
  work(x, 100);
  MPI_Bcast(b, 100, other, 0, MPI_COMM_WORLD);
  work(x, 100);
  MPI_Finalize();
  return x[99] + a[4] + b[4] > 0;
}
// CHECK-DAG: :18:3: remark: MPI_Bcast made nonblocking
// CHECK-DAG: :20:3: remark: MPI_Bcast stays blocking: DerivedDatatype:
