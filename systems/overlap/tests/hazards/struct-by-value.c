// A struct that is passed by value is gone when the wrapper returns.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
struct block { double v[20000]; };
static struct block x, y, r;
__attribute__((noinline)) static void send_block(struct block b, int to) {
  MPI_Send(b.v, 20000, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
}
__attribute__((noinline)) static double norm(struct block b) {
  double s = 0; for (int i = 0; i < 20000; i++) s = s * 0.5 + b.v[i]; return s;
}
int main(int argc, char **argv) {
  int rank; double s = 0; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 20000; i++) { x.v[i] = argc; y.v[i] = argc + 1; }
  if (rank == 0) { send_block(x, 1); s = norm(y); }
  else {
    usleep(300000);
    MPI_Recv(r.v, 20000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 20000; i++) s += r.v[i];
  }
  printf("%d %f\n", rank, s);
  MPI_Finalize();
}
