/* Requests in a struct on the heap, which all functions are given. */
#include "halo.h"
typedef struct {
  int up, down;
  MPI_Request q[4];
} neighbours;
APART void exchange(neighbours *n, double *u) {
  MPI_Irecv(AT(u, 0), Y, D, n->down, 0, WORLD, &n->q[0]);
  MPI_Irecv(AT(u, X + 1), Y, D, n->up, 1, WORLD, &n->q[1]);
  MPI_Isend(AT(u, 1), Y, D, n->down, 1, WORLD, &n->q[2]);
  MPI_Isend(AT(u, X), Y, D, n->up, 0, WORLD, &n->q[3]);
  MPI_Waitall(4, n->q, MPI_STATUSES_IGNORE);
}
APART void stencil(double *o, const double *u) {
  STENCIL(o, u)
}
/* Kept where any function may find it. */
neighbours *ours;
int main(int argc, char **argv) {
  int me;
  ours = (neighbours *)malloc(sizeof *ours);
  begin(&argc, &argv, &me, &ours->up, &ours->down);
  double *in = grid(me), *out = grid(me);
  for (int step = 0; step < STEPS; step++) {
    exchange(ours, in);
    stencil(out, in);
    double *swap = in;
    in = out;
    out = swap;
  }
  return report(in, me);
}
