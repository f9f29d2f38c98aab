/* Methods of a class. */
#include "halo.h"
class Field {
public:
  Field(int me, int up, int down) : in(grid(me)), out(grid(me)), up(up), down(down) {}
  void exchange() {
    MPI_Request q[4];
    MPI_Irecv(AT(in, 0), Y, D, down, 0, WORLD, &q[0]);
    MPI_Irecv(AT(in, X + 1), Y, D, up, 1, WORLD, &q[1]);
    MPI_Isend(AT(in, 1), Y, D, down, 1, WORLD, &q[2]);
    MPI_Isend(AT(in, X), Y, D, up, 0, WORLD, &q[3]);
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
  }
  void stencil() { STENCIL(out, in) }
  void swap() {
    double *was = in;
    in = out;
    out = was;
  }
  const double *now() const { return in; }

private:
  double *in, *out;
  int up, down;
};
int main(int argc, char **argv) {
  int me, up, down;
  begin(&argc, &argv, &me, &up, &down);
  Field field(me, up, down);
  for (int step = 0; step < STEPS; step++) {
    field.exchange();
    field.stencil();
    field.swap();
  }
  return report(field.now(), me);
}
