// The members of a struct around its requests are read and written while they are pending, the
// handle is copied with the struct or by itself, and two structs take turns: what of it is a
// request, and who else ends it, decides what may move.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 200000, WORK = 100000 };

struct halo {
  int *in;
  int passes;
  MPI_Request requests[2];
  int last;
  int *out;
};

static int me, other;
static double x[WORK];

static void start(struct halo *h) {
  MPI_Irecv(h->in, N, MPI_INT, other, 0, MPI_COMM_WORLD, &h->requests[0]);
  MPI_Isend(h->out, N, MPI_INT, other, 0, MPI_COMM_WORLD, &h->requests[1]);
  h->passes++;
}

static double work(void) {
  double sum = 0;
  for (int i = 0; i < WORK; i++)
    sum += x[i] = x[i] * 0.5 + i % 7;
  return sum;
}

static long sum(const int *a) {
  long s = 0;
  for (int i = 0; i < N; i++)
    s += (long)a[i] * (i % 5 + 1);
  return s;
}

static void fill(int *a, int k) {
  for (int i = 0; i < N; i++)
    a[i] = (i * 7 + k * 1001 + me * 31) & 0xffff;
}

static struct halo halo(int *in, int *out) {
  struct halo h = {in, 0, {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, -1, out};
  return h;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  other = 1 - me;
  int *in = malloc(2 * N * sizeof *in), *out = malloc(2 * N * sizeof *out);
  double done = 0;
  long got = 0;
  // Its members change while its messages are pending.
  struct halo h = halo(in, out);
  for (int k = 0; k < 3; k++) {
    fill(out, k);
    start(&h);
    h.last = k + h.passes;
    MPI_Waitall(2, h.requests, MPI_STATUSES_IGNORE);
    done += work();
    got += sum(h.in) + h.last * h.passes;
  }
  // The buffer is another while the message is pending.
  fill(out, 9);
  struct halo moved = halo(in, out);
  start(&moved);
  moved.in = in + N;
  memset(moved.in, 0, N * sizeof *in);
  MPI_Wait(&moved.requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&moved.requests[1], MPI_STATUS_IGNORE);
  done += work();
  got += 3 * sum(moved.in) + 5 * sum(in);
  // The handle is in a copy of the struct, which waits.
  fill(out, 11);
  struct halo first = halo(in, out);
  start(&first);
  struct halo copy = first;
  MPI_Waitall(2, copy.requests, MPI_STATUSES_IGNORE);
  got += sum(in);
  fill(out, 12);
  done += work();
  // It is copied by itself, and the member forgets it.
  struct halo g = halo(in, out);
  start(&g);
  MPI_Request saved = g.requests[0];
  g.requests[0] = MPI_REQUEST_NULL;
  MPI_Waitall(2, g.requests, MPI_STATUSES_IGNORE);
  MPI_Wait(&saved, MPI_STATUS_IGNORE);
  got += sum(in) * g.passes;
  done += work();
  // Two of them take turns.
  struct halo both[2] = {halo(in, out), halo(in + N, out + N)};
  fill(both[0].out, 20);
  start(&both[0]);
  for (int k = 1; k < 5; k++) {
    fill(both[k % 2].out, 20 + k);
    start(&both[k % 2]);
    done += work();
    MPI_Waitall(2, both[(k + 1) % 2].requests, MPI_STATUSES_IGNORE);
    got += sum(both[(k + 1) % 2].in) * k;
  }
  MPI_Waitall(2, both[0].requests, MPI_STATUSES_IGNORE);
  got += sum(both[0].in);
  printf("%d: %ld %.17g\n", me, got, done);
  MPI_Finalize();
  return 0;
}
