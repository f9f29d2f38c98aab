// An error handler may throw through functions that catch nothing: no function that calls MPI is
// taken for one that does not throw.
#include <mpi.h>
#include <stdio.h>
#ifdef SECOND_FILE
static void thrower(MPI_Comm *, int *, ...) { throw 7; }
void set_handler() {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(thrower, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
}
#else
void set_handler();
static double a[40000], b[40000], x[50000];
__attribute__((noinline)) static double compute(int pass) {
  for (int i = 1; i < 50000; i++)
    x[i] = x[i - 1] * .5 + i + pass;
  return x[77];
}
__attribute__((noinline)) static double exchange(int other) {
  MPI_Sendrecv(a, 40000, MPI_DOUBLE, other, 1, b, 40000, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  double did = compute(other);
  return did + b[3];
}
__attribute__((noinline)) static double through(int other) { return exchange(other) * 2; }
int main(int argc, char **argv) {
  int rank, size;
  double sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 40000; i++)
    a[i] = rank + i;
  set_handler();
  for (int pass = 0; pass < 3; pass++) {
    try {
      sum += through(pass == 1 ? size + 5 : 1 - rank);
    } catch (int code) {
      sum += 1000 * code;
    }
  }
  printf("%d sum %.17g\n", rank, sum);
  MPI_Finalize();
}
#endif
