// A copy of a function with a table of labels would jump into the original.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static double run(const unsigned char *code, double x, int reps) {
  static const void *const to[] = {&&add, &&mul, &&sub, &&halt};
  for (int r = 0; r < reps; r++) {
    const unsigned char *pc = code;
    goto *to[*pc++];
  add: x += 1.5; goto *to[*pc++];
  mul: x *= 0.999; goto *to[*pc++];
  sub: x -= r * 1e-3; goto *to[*pc++];
  halt:;
  }
  return x;
}
int main(int argc, char **argv) {
  int rank, n = 100000; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned char code[8] = {0, 1, 2, 0, 1, (unsigned char)(argc > 9), 3, 3};
  double *a = calloc(n, 8), *b = calloc(n, 8);
  MPI_Sendrecv(a, n, MPI_DOUBLE, 1 - rank, 0, b, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  double v = run(code, rank, 3000000);
  printf("%d %f\n", rank, v + b[5]);
  MPI_Finalize();
}
