/* Rows are received into buffers and unpacked as they come. */
#include "halo.h"
#include <string.h>
APART void exchange(double *u, double *buffers, int up, int down) {
  MPI_Request q[4];
  MPI_Irecv(AT(buffers, 0), Y, D, down, 0, WORLD, &q[0]);
  MPI_Irecv(AT(buffers, 1), Y, D, up, 1, WORLD, &q[1]);
  MPI_Isend(AT(u, 1), Y, D, down, 1, WORLD, &q[2]);
  MPI_Isend(AT(u, X), Y, D, up, 0, WORLD, &q[3]);
  for (int k = 0; k < 4; k++) {
    int which;
    MPI_Waitany(4, q, &which, MPI_STATUS_IGNORE);
    if (which < 2)
      memcpy(AT(u, which ? X + 1 : 0), AT(buffers, which), Y * sizeof *u);
  }
}
APART void stencil(double *o, const double *u) {
  STENCIL(o, u)
}
int main(int argc, char **argv) {
  int me, up, down;
  begin(&argc, &argv, &me, &up, &down);
  double *in = grid(me), *out = grid(me);
  double *buffers = grid(0);
  for (int step = 0; step < STEPS; step++) {
    exchange(in, buffers, up, down);
    stencil(out, in);
    double *swap = in;
    in = out;
    out = swap;
  }
  return report(in, me);
}
