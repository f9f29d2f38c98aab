/* MPI_Sendrecv in a function. */
#include "halo.h"
APART void exchange(double *u, int up, int down) {
  MPI_Sendrecv(AT(u, 1), Y, D, down, 1, AT(u, X + 1), Y, D, up, 1, WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(AT(u, X), Y, D, up, 0, AT(u, 0), Y, D, down, 0, WORLD, MPI_STATUS_IGNORE);
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
