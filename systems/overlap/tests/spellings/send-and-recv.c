/* MPI_Send and MPI_Recv: even ranks send first. */
#include "halo.h"
APART void exchange(double *u, int me, int up, int down) {
  if (me % 2 == 0) {
    MPI_Send(AT(u, X), Y, D, up, 0, WORLD);
    MPI_Send(AT(u, 1), Y, D, down, 1, WORLD);
    MPI_Recv(AT(u, 0), Y, D, down, 0, WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(AT(u, X + 1), Y, D, up, 1, WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(AT(u, 0), Y, D, down, 0, WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(AT(u, X + 1), Y, D, up, 1, WORLD, MPI_STATUS_IGNORE);
    MPI_Send(AT(u, X), Y, D, up, 0, WORLD);
    MPI_Send(AT(u, 1), Y, D, down, 1, WORLD);
  }
}
APART void stencil(double *o, const double *u) {
  STENCIL(o, u)
}
int main(int argc, char **argv) {
  int me, up, down;
  begin(&argc, &argv, &me, &up, &down);
  double *in = grid(me), *out = grid(me);
  for (int step = 0; step < STEPS; step++) {
    exchange(in, me, up, down);
    stencil(out, in);
    double *swap = in;
    in = out;
    out = swap;
  }
  return report(in, me);
}
