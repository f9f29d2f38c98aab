/* A loop of waits, in a function. */
#include "halo.h"
APART void exchange(double *u, int up, int down) {
  MPI_Request q[4];
  MPI_Irecv(AT(u, 0), Y, D, down, 0, WORLD, &q[0]);
  MPI_Irecv(AT(u, X + 1), Y, D, up, 1, WORLD, &q[1]);
  MPI_Isend(AT(u, 1), Y, D, down, 1, WORLD, &q[2]);
  MPI_Isend(AT(u, X), Y, D, up, 0, WORLD, &q[3]);
  for (int k = 0; k < 4; k++)
    MPI_Wait(&q[k], MPI_STATUS_IGNORE);
}
APART void stencil(double *o, const double *u) {
  STENCIL(o, u)
}
int main(int argc, char **argv) {
  int me, up, down;
  begin(&argc, &argv, &me, &up, &down);
  double *in = grid(me), *out = grid(me);
  for (int step = 0; step < STEPS; step++) {
    exchange(in, up, down);
    stencil(out, in);
    double *swap = in;
    in = out;
    out = swap;
  }
  return report(in, me);
}
