/* Requests and cells in vectors. */
#include "halo.h"
#include <utility>
#include <vector>
static void exchange(std::vector<double> &u, int up, int down) {
  std::vector<MPI_Request> q(4);
  MPI_Irecv(AT(u.data(), 0), Y, D, down, 0, WORLD, &q[0]);
  MPI_Irecv(AT(u.data(), X + 1), Y, D, up, 1, WORLD, &q[1]);
  MPI_Isend(AT(u.data(), 1), Y, D, down, 1, WORLD, &q[2]);
  MPI_Isend(AT(u.data(), X), Y, D, up, 0, WORLD, &q[3]);
  MPI_Waitall(4, q.data(), MPI_STATUSES_IGNORE);
}
static void stencil(std::vector<double> &o, const std::vector<double> &u) { STENCIL(o, u) }
int main(int argc, char **argv) {
  int me, up, down;
  begin(&argc, &argv, &me, &up, &down);
  double *first = grid(me);
  std::vector<double> in(first, first + (X + 2) * Y), out = in;
  for (int step = 0; step < STEPS; step++) {
    exchange(in, up, down);
    stencil(out, in);
    std::swap(in, out);
  }
  return report(in.data(), me);
}
