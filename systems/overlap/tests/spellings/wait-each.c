/* A wait for each request. */
#include "halo.h"
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
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    MPI_Wait(&q[2], MPI_STATUS_IGNORE);
    MPI_Wait(&q[3], MPI_STATUS_IGNORE);
    STENCIL(out, in)
    double *swap = in;
    in = out;
    out = swap;
  }
  return report(in, me);
}
