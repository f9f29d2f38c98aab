/* One function starts, another one ends. */
#include "halo.h"
APART void begin_exchange(double *u, int up, int down, MPI_Request *q) {
  MPI_Irecv(AT(u, 0), Y, D, down, 0, WORLD, &q[0]);
  MPI_Irecv(AT(u, X + 1), Y, D, up, 1, WORLD, &q[1]);
  MPI_Isend(AT(u, 1), Y, D, down, 1, WORLD, &q[2]);
  MPI_Isend(AT(u, X), Y, D, up, 0, WORLD, &q[3]);
}
APART void end_exchange(MPI_Request *q) { MPI_Waitall(4, q, MPI_STATUSES_IGNORE); }
APART void stencil(double *o, const double *u) {
  STENCIL(o, u)
}
int main(int argc, char **argv) {
  int me, up, down;
  begin(&argc, &argv, &me, &up, &down);
  double *in = grid(me), *out = grid(me);
  for (int step = 0; step < STEPS; step++) {
    MPI_Request q[4];
    begin_exchange(in, up, down, q);
    end_exchange(q);
    stencil(out, in);
    double *swap = in;
    in = out;
    out = swap;
  }
  return report(in, me);
}
