/* Each neighbour is a struct with its requests. */
#include "halo.h"
struct neighbour {
  int rank, row, halo, tag;
  MPI_Request in, out;
};
APART void exchange(double *u, int up, int down) {
  struct neighbour all[2] = {{down, 1, 0, 0, MPI_REQUEST_NULL, MPI_REQUEST_NULL},
                             {up, X, X + 1, 1, MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
  for (int k = 0; k < 2; k++)
    MPI_Irecv(AT(u, all[k].halo), Y, D, all[k].rank, all[k].tag, WORLD, &all[k].in);
  for (int k = 0; k < 2; k++)
    MPI_Isend(AT(u, all[k].row), Y, D, all[k].rank, 1 - all[k].tag, WORLD, &all[k].out);
  for (int k = 0; k < 2; k++) {
    MPI_Wait(&all[k].in, MPI_STATUS_IGNORE);
    MPI_Wait(&all[k].out, MPI_STATUS_IGNORE);
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
    exchange(in, up, down);
    stencil(out, in);
    double *swap = in;
    in = out;
    out = swap;
  }
  return report(in, me);
}
