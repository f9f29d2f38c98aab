/* Requests are counted by a variable, and started where there is a neighbour. */
#include "halo.h"
int main(int argc, char **argv) {
  int me, up, down;
  begin(&argc, &argv, &me, &up, &down);
  double *in = grid(me), *out = grid(me);
  for (int step = 0; step < STEPS; step++) {
    MPI_Request q[4];
    int n = 0;
    if (down != me) {
      MPI_Irecv(AT(in, 0), Y, D, down, 0, WORLD, &q[n++]);
      MPI_Isend(AT(in, 1), Y, D, down, 1, WORLD, &q[n++]);
    }
    if (up != me) {
      MPI_Irecv(AT(in, X + 1), Y, D, up, 1, WORLD, &q[n++]);
      MPI_Isend(AT(in, X), Y, D, up, 0, WORLD, &q[n++]);
    }
    MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
    STENCIL(out, in)
    double *swap = in;
    in = out;
    out = swap;
  }
  return report(in, me);
}
