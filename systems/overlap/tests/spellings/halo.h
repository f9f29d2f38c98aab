/* What all spellings share: a grid of X rows of Y cells on each rank, with a row of each neighbour
   before and behind. Rows are 256 KiB. */
#ifndef HALO_H
#define HALO_H
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define X 64L
#define Y 32768L
/* Not known to the compiler. */
#define STEPS (argc + 2)
#define WORLD MPI_COMM_WORLD
#define D MPI_DOUBLE
#define AT(u, i) ((u) + (i) * Y)
/* Out of line, where a spelling asks for it. */
#define APART __attribute__((noinline)) static

/* One cell from its neighbours. */
#define CELL(in, c) \
  (0.2 * ((in)[c] + (in)[(c) - Y] + (in)[(c) + Y] + (in)[(c) - 1] + (in)[(c) + 1]))
/* All own cells; the first and the last row need what was received. */
#define STENCIL(out, in)            \
  for (long i = 1; i <= X; i++)     \
    for (long j = 1; j < Y - 1; j++) \
      (out)[i * Y + j] = CELL(in, i * Y + j);

static double *grid(int seed) {
  double *u = (double *)calloc((X + 2) * Y, sizeof *u);
  for (long i = 0; i < (X + 2) * Y; i++)
    u[i] = (double)((i * 7 + seed) % 13);
  return u;
}

static void begin(int *argc, char ***argv, int *me, int *up, int *down) {
  int size;
  MPI_Init(argc, argv);
  MPI_Comm_rank(WORLD, me);
  MPI_Comm_size(WORLD, &size);
  *up = (*me + 1) % size;
  *down = (*me + size - 1) % size;
}

/* Everything that was computed, in one number and in some cells, which a sum might hide. */
static int report(const double *u, int me) {
  double sum = 0, all = 0;
  for (long i = Y; i < (X + 1) * Y; i++)
    sum += u[i] * (double)(1 + (i + me) % 17);
  MPI_Reduce(&sum, &all, 1, D, MPI_SUM, 0, WORLD);
  if (me == 0)
    printf("%.17g %.17g %.17g\n", all, u[Y + 5], u[X * Y + 7]);
  MPI_Finalize();
  return 0;
}
#endif
