// Exchanges and the loops behind them are functions, which become parts of their caller. What a
// loop reads and writes there follows from the arguments: one array as another, a part of it, one
// that another message is still received into, lengths and requests that change from step to step.
#include <mpi.h>
#include <stdio.h>
#define ROW 20000L
#define ROWS 6L
#define APART __attribute__((noinline)) static
static double a[(ROWS + 2) * ROW], b[(ROWS + 2) * ROW];
static int me, other;
struct halo {
  double *from, *to;
  int length;
  MPI_Request q[2];
};
APART void exchange(double *u, int length) {
  MPI_Request q[2];
  MPI_Irecv(u, length, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &q[0]);
  MPI_Isend(u + ROWS * ROW, length, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &q[1]);
  MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}
APART void start(struct halo *h) {
  MPI_Irecv(h->to, h->length, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &h->q[0]);
  MPI_Isend(h->from, h->length, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &h->q[1]);
}
APART void end(struct halo *h) { MPI_Waitall(2, h->q, MPI_STATUSES_IGNORE); }
APART void average(double *v, const double *u) {
  for (long i = ROW; i < (ROWS + 1) * ROW; i++)
    v[i] = 0.5 * (u[i - ROW] + u[i]) + 1;
}
// Each row needs the one before it, and the first one what was received.
APART void down(double *u) {
  for (long i = ROW; i < (ROWS + 1) * ROW; i++)
    u[i] = 0.25 * u[i] + 0.5 * u[i - ROW];
}
// Writes what is sent, and what was received.
APART void scale(double *u) {
  for (long i = 0; i < (ROWS + 1) * ROW; i++)
    u[i] = 0.75 * u[i] + me;
}
APART double sum(const double *u) {
  double all = 0;
  for (long i = 0; i < (ROWS + 2) * ROW; i++)
    all += u[i] * (double)(1 + i % 13);
  return all;
}
APART void fill(void) {
  for (long i = 0; i < (ROWS + 2) * ROW; i++) {
    a[i] = (double)((i * 7 + me * 5) % 11);
    b[i] = (double)((i * 3 + me) % 7);
  }
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  other = 1 - me;
  double *in = a, *out = b;
  fill();
  for (int step = 0; step < argc + 3; step++) {
    exchange(in, (int)(ROW - step));
    average(out, in);
    double *was = in;
    in = out;
    out = was;
  }
  printf("swapped %d %.17g %.17g\n", me, sum(a), sum(b));
  fill();
  for (int step = 0; step < argc + 3; step++) {
    exchange(a, ROW);
    average(a, a);
    exchange(b, ROW);
    down(b);
  }
  printf("in place %d %.17g %.17g\n", me, sum(a), sum(b));
  fill();
  for (int step = 0; step < argc + 3; step++) {
    exchange(a, ROW);
    average(a + (argc + step) % 3 * 100, a);
    exchange(b, ROW);
    scale(b);
  }
  printf("shifted %d %.17g %.17g\n", me, sum(a), sum(b));
  fill();
  // The halo that is ended is that of the step before; the loop reads where the next one lands.
  struct halo h[2] = {{a + ROWS * ROW, a, ROW, {MPI_REQUEST_NULL, MPI_REQUEST_NULL}},
                      {b + ROWS * ROW, b, ROW, {MPI_REQUEST_NULL, MPI_REQUEST_NULL}}};
  start(&h[0]);
  for (int step = 1; step < argc + 4; step++) {
    start(&h[step % 2]);
    end(&h[(step + 1) % 2]);
    average(step % 2 ? a : b, step % 2 ? a : b);
    if (step == argc + 3)
      end(&h[step % 2]);
  }
  printf("crossed %d %.17g %.17g\n", me, sum(a), sum(b));
  fill();
  // Something looks at the halo, or changes it, between the exchange and the loop.
  double seen = 0;
  for (int step = 0; step < argc + 3; step++) {
    exchange(a, ROW);
    seen += a[step];
    average(b, a);
    exchange(b, ROW);
    b[3] += 1;
    average(a, b);
  }
  printf("between %d %.17g %.17g %.17g\n", me, seen, sum(a), sum(b));
  MPI_Finalize();
  return 0;
}
