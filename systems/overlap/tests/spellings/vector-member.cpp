/* Requests in a vector that belongs to an object. */
#include "halo.h"
#include <utility>
#include <vector>
class Halo {
public:
  Halo(int up, int down) : up(up), down(down), q(4) {}
  __attribute__((noinline)) void exchange(double *u) {
    MPI_Irecv(AT(u, 0), Y, D, down, 0, WORLD, &q[0]);
    MPI_Irecv(AT(u, X + 1), Y, D, up, 1, WORLD, &q[1]);
    MPI_Isend(AT(u, 1), Y, D, down, 1, WORLD, &q[2]);
    MPI_Isend(AT(u, X), Y, D, up, 0, WORLD, &q[3]);
    MPI_Waitall(4, q.data(), MPI_STATUSES_IGNORE);
  }

private:
  int up, down;
  std::vector<MPI_Request> q;
};
static void stencil(double *o, const double *u) { STENCIL(o, u) }
int main(int argc, char **argv) {
  int me, up, down;
  begin(&argc, &argv, &me, &up, &down);
  double *in = grid(me), *out = grid(me);
  Halo halo(up, down);
  for (int step = 0; step < STEPS; step++) {
    halo.exchange(in);
    stencil(out, in);
    std::swap(in, out);
  }
  return report(in, me);
}
