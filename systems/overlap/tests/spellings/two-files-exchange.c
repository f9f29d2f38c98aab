/* The exchange of two-files.c. */
#include "halo.h"
void exchange(double *u, int up, int down);
void exchange(double *u, int up, int down) {
  MPI_Request q[4];
  MPI_Irecv(AT(u, 0), Y, D, down, 0, WORLD, &q[0]);
  MPI_Irecv(AT(u, X + 1), Y, D, up, 1, WORLD, &q[1]);
  MPI_Isend(AT(u, 1), Y, D, down, 1, WORLD, &q[2]);
  MPI_Isend(AT(u, X), Y, D, up, 0, WORLD, &q[3]);
  MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
}
