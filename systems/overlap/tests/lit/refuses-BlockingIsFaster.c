// What a library does better blocking at any length its ranks never start, unless the user has set a number; and what is
// too short for their rule is not said to be nonblocking.
// RUN: env MEANWHILE_OVERLAP=min-weight=1,progress=off %openmpi %s | FileCheck %s --check-prefix=OPENMPI
// RUN: env MEANWHILE_OVERLAP=min-weight=1,progress=off %mpich %s | FileCheck %s --check-prefix=MPICH
// RUN: %set %openmpi %s | FileCheck %s --check-prefix=SET
#include "mpi.h"
int MPI_Reduce(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
int MPI_Exscan(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
void f(double *restrict a, double *restrict b, double *restrict x) {
  MPI_Reduce(a, b, 100000, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(a, b, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Exscan(a, b, 100000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work(x, 100);
  MPI_Bcast(a, 50000, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// OPENMPI: MPI_Reduce stays blocking: BlockingIsFaster:
// OPENMPI: MPI_Reduce stays blocking: SmallMessage:
// OPENMPI: MPI_Exscan stays blocking: BlockingIsFaster:
// OPENMPI: MPI_Bcast made nonblocking
// MPICH: MPI_Exscan made nonblocking
// MPICH: MPI_Bcast stays blocking: SmallMessage:
// SET: MPI_Exscan made nonblocking
// SET: MPI_Bcast made nonblocking
