/* The stencil is a function. */
#include "halo.h"
APART void stencil(double *o, const double *u) {
  STENCIL(o, u)
}
int main(int argc, char **argv) {
  int me, up, down;
  begin(&argc, &argv, &me, &up, &down);
  double *in = grid(me), *out = grid(me);
  for (int step = 0; step < STEPS; step++) {
    MPI_Request q[4];
    MPI_Irecv(AT(in, 0), Y, D, down, 0, WORLD, &q[0]);
    MPI_Irecv(AT(in, X + 1), Y, D, up, 1, WORLD, &q[1]);
    MPI_Isend(AT(in, 1), Y, D, down, 1, WORLD, &q[2]);
    MPI_Isend(AT(in, X), Y, D, up, 0, WORLD, &q[3]);
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
    stencil(out, in);
    double *swap = in;
    in = out;
    out = swap;
  }
  return report(in, me);
}
