/* A matrix product by panels: each step one rank broadcasts its panel, all copy it and multiply with
   the copy. The broadcast of the next panel may run while this one is multiplied.

   panels [columns] [steps] [rows] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void multiply(const double *restrict panel, double *restrict result, int columns, int rows) {
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < rows; i++) {
      double sum = result[i];
      for (int j = 0; j < columns; j++)
        sum = 0.5 * sum + panel[j] * (i % 5 - 2);
      result[i] = sum;
    }
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int columns = argc > 1 ? atoi(argv[1]) : 50000;
  int steps = argc > 2 ? atoi(argv[2]) : 8;
  int rows = argc > 3 ? atoi(argv[3]) : 40;
  double *panels = malloc((size_t)steps * (size_t)columns * sizeof *panels);
  double *copy = malloc((size_t)columns * sizeof *copy), *result = malloc((size_t)rows * sizeof *result);
  for (int k = 0; k < steps; k++)
    for (int j = 0; j < columns; j++)
      panels[(size_t)k * (size_t)columns + (size_t)j] = k % size == rank ? (k + j) % 11 : 0;
  for (int i = 0; i < rows; i++)
    result[i] = rank;
  for (int k = 0; k < steps; k++) {
    double *panel = panels + (size_t)k * (size_t)columns;
    MPI_Bcast(panel, columns, MPI_DOUBLE, k % size, MPI_COMM_WORLD);
    for (int j = 0; j < columns; j++)
      copy[j] = panel[j];
    multiply(copy, result, columns, rows);
  }
  double sum = 0, total = 0;
  for (int i = 0; i < rows; i++)
    sum += result[i] * (i + 1);
  MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("checksum %.17g\n", total);
  MPI_Finalize();
  return 0;
}
