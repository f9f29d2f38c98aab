// As two-nests-in-a-window.c, with two results of each pass, other bounds and other types.
#include <mpi.h>
#include <stdlib.h>
#define R 200
#define C 30000
static short f[R][C];
static double sent[40000];
static int at(int k, int i) { return (int)((unsigned)k * 7919u + (unsigned)i * 13u) & 0x7ff; }
int main(int argc, char **argv) {
  int me, n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (int t = 0; t < 3; t++) {
    if (me == 0)
      for (int r = 1; r < n; r++)
        MPI_Send(sent, 40000, MPI_DOUBLE, r, t, MPI_COMM_WORLD);
    int up = (me + 1) % n, down = (me + n - 1) % n;
    for (int i = 1; i < R - 1; i++)
      for (int j = 0; j < C; j++)
        f[i][j] = at(me + t, i * C + j);
    long got = 0, want = 0;
    for (int i = 1; i < R - 1; i++)
      for (int j = 2; j < C; j++)
        got += f[i - 1][j] + 3L * f[i + 1][j] - f[i][j - 2];
#define F(i, j) ((i) == 0 ? at(down + t, (R - 2) * C + (j)) : (i) == R - 1 ? at(up + t, C + (j)) : at(me + t, (i) * C + (j)))
    for (int i = 1; i < R - 1; i++)
      for (int j = 2; j < C; j++)
        want += F(i - 1, j) + 3L * F(i + 1, j) - F(i, j - 2);
    if (got != want)
      abort();
  }
}
