/* A molecular dynamics step in one dimension: particles at the border are copied to the neighbours,
   forces among the own particles need no copies, then those with copies, then the energies are
   summed over all ranks while positions advance.

   md [particles a rank] [steps] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEIGHBOURS = 16 };

static void exchange(const double *x, int n, double *below, double *above, int down, int up) {
  MPI_Sendrecv(x, n, MPI_DOUBLE, down, 1, above, n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(x, n, MPI_DOUBLE, up, 2, below, n, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double pair(double a, double b) {
  double d = a - b, q = d * d + 0.01;
  return d / (q * q);
}

static void forces(double *restrict f, const double *restrict x, int n) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 1; k <= NEIGHBOURS; k++)
      sum += (i >= k ? pair(x[i], x[i - k]) : 0) + (i + k < n ? pair(x[i], x[i + k]) : 0);
    f[i] = sum;
  }
}

static void border(double *restrict f, const double *restrict x, const double *restrict other, int n, double shift) {
  for (int i = 0; i < NEIGHBOURS; i++)
    f[i] += pair(x[i], other[n - 1 - i] + shift);
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int n = argc > 1 ? atoi(argv[1]) : 20000;
  int steps = argc > 2 ? atoi(argv[2]) : 10;
  int down = (rank + size - 1) % size, up = (rank + 1) % size;
  double *x = malloc((size_t)n * sizeof *x), *v = calloc((size_t)n, sizeof *v), *f = calloc((size_t)n, sizeof *f);
  double *below = calloc((size_t)n, sizeof *below), *above = calloc((size_t)n, sizeof *above);
  double energy = 0;
  for (int i = 0; i < n; i++)
    x[i] = i + 0.1 * ((i * 7 + rank) % 5);
  for (int s = 0; s < steps; s++) {
    exchange(x, n, below, above, down, up);
    forces(f, x, n);
    border(f, x, below, n, -(double)n);
    border(f, x, above, n, (double)n);
    double here = 0, everywhere = 0;
    for (int i = 0; i < n; i++) {
      v[i] += 0.001 * f[i];
      here += v[i] * v[i];
    }
    MPI_Allreduce(&here, &everywhere, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
      x[i] += 0.001 * v[i];
    energy += everywhere;
  }
  unsigned long sum = 0;
  for (int i = 0; i < n; i++) {
    unsigned long bits;
    memcpy(&bits, &x[i], sizeof bits);
    sum = sum * 31 + bits;
  }
  unsigned long total = 0;
  MPI_Reduce(&sum, &total, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("checksum %lu %.17g\n", total, energy);
  MPI_Finalize();
  return 0;
}
