// An error handler may throw: what is caught around a call is caught, what is destroyed on the way
// is destroyed.
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
static int destroyed, caught;
struct Guard {
  ~Guard() { destroyed++; }
};
static double a[40000], x[50000];
static void compute(int pass) {
  for (int i = 1; i < 50000; i++)
    x[i] = x[i - 1] * .5 + i + pass;
}
__attribute__((noinline)) static void receive(int from) {
  Guard guard;
  MPI_Recv(a, 40000, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  compute(from);
}
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  set_handler();
  try {
    MPI_Send(a, 40000, MPI_DOUBLE, size + 7, 0, MPI_COMM_WORLD);
    compute(rank);
  } catch (int code) {
    caught += code;
  }
  try {
    receive(size + 9);
  } catch (int code) {
    caught += 10 * code;
  }
  printf("%d caught %d destroyed %d %g\n", rank, caught, destroyed, x[77]);
  MPI_Finalize();
}
#endif
