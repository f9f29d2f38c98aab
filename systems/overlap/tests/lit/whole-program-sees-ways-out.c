// What looks like a function of this file may be one of another file, which could receive from any source: so what is received
// ends before the next send starts.
// RUN: %set %openmpi -DWEAK %s | FileCheck %s --check-prefix=PART
// RUN: %set %mpich -DWEAK %s | FileCheck %s --check-prefix=PART
// RUN: %set %mpich -DALIAS %s | FileCheck %s --check-prefix=PART
// RUN: %set %openmpi -DVARIABLE %s | FileCheck %s --check-prefix=PART
// RUN: %set %mpich -DVARIABLE %s | FileCheck %s --check-prefix=PART
// RUN: %set %mpich -DSETTABLE %s | FileCheck %s --check-prefix=PART
// RUN: %set %openmpi -DOWN %s | FileCheck %s --check-prefix=OWN
// RUN: %set %mpich -DOWN %s | FileCheck %s --check-prefix=OWN
#include "mpi.h"
static double a[100], b[100], x[100];
#if defined(WEAK)
__attribute__((weak)) void step(void) { a[0] = 1; }
#elif defined(ALIAS)
static void at_first(void) { a[0] = 1; }
__attribute__((weak, alias("at_first"))) void step(void);
#elif defined(VARIABLE)
extern struct { int kind; void (*call)(void); } of;
#define step of.call
#elif defined(SETTABLE)
// A constructor of another file may write it.
static void at_first(void) { a[0] = 1; }
void (*step)(void) = at_first;
#else
static void at_first(void) { a[0] = 1; }
static void (*step)(void) = at_first;
extern int level;
#endif
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
#ifdef OWN
  a[1] = level;
#endif
  step();
  MPI_Recv(a, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(b, 100, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD);
  work(x, 100);
}
// OWN: MPI_Recv made nonblocking
// PART: MPI_Recv stays blocking: SmallWindow:
