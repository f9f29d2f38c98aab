/* Each call of MPI has a wrapper of the program's own. */
#include "halo.h"
APART void receive(double *at, int from, int tag, MPI_Request *q) {
  MPI_Irecv(at, Y, D, from, tag, WORLD, q);
}
APART void post(const double *at, int to, int tag, MPI_Request *q) {
  MPI_Isend(at, Y, D, to, tag, WORLD, q);
}
APART void finish(int n, MPI_Request *q) { MPI_Waitall(n, q, MPI_STATUSES_IGNORE); }
APART void exchange(double *u, int up, int down) {
  MPI_Request q[4];
  receive(AT(u, 0), down, 0, &q[0]);
  receive(AT(u, X + 1), up, 1, &q[1]);
  post(AT(u, 1), down, 1, &q[2]);
  post(AT(u, X), up, 0, &q[3]);
  finish(4, q);
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
