/* MPI_Sendrecv in the function of the loop. */
#include "halo.h"
int main(int argc, char **argv) {
  int me, up, down;
  begin(&argc, &argv, &me, &up, &down);
  double *in = grid(me), *out = grid(me);
  for (int step = 0; step < STEPS; step++) {
    MPI_Sendrecv(AT(in, 1), Y, D, down, 1, AT(in, X + 1), Y, D, up, 1, WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(AT(in, X), Y, D, up, 0, AT(in, 0), Y, D, down, 0, WORLD, MPI_STATUS_IGNORE);
    STENCIL(out, in)
    double *swap = in;
    in = out;
    out = swap;
  }
  return report(in, me);
}
