// A sparse matrix times a vector behind an exchange of its halo: the rows go on while messages are pending, and end them by MPI_Test, which
// the program does not declare. Behind the last round nothing is pending, so no question comes from the product there. The program
// is its own MPI_Iprobe, and counts.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { ROWS = 40000, WIDTH = 16, HALO = 4000, ROUNDS = 6, QUIET = 200 };
static int asked;
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  (void)source, (void)tag, (void)comm, (void)status;
  asked++;
  *flag = 0;
  return MPI_SUCCESS;
}
struct matrix {
  int rows, *length, **column;
  double **value;
};
static void exchange(double *x, double *out, int other) {
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(x + ROWS, HALO, MPI_DOUBLE, other, 7, MPI_COMM_WORLD, &request);
  for (int i = 0; i < HALO; i++)
    out[i] = x[i];
  MPI_Send(out, HALO, MPI_DOUBLE, other, 7, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
}
static void times(const struct matrix *a, const double *x, double *y) {
  for (int i = 0; i < a->rows; i++) {
    double sum = 0;
    for (int j = 0; j < a->length[i]; j++)
      sum += a->value[i][j] * x[a->column[i][j]];
    y[i] = sum;
  }
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  struct matrix a = {ROWS, malloc(ROWS * sizeof(int)), malloc(ROWS * sizeof(int *)), malloc(ROWS * sizeof(double *))};
  for (int i = 0; i < ROWS; i++) {
    a.length[i] = WIDTH - i % 3;
    a.column[i] = malloc(WIDTH * sizeof(int));
    a.value[i] = malloc(WIDTH * sizeof(double));
    for (int j = 0; j < WIDTH; j++) {
      a.column[i][j] = (i + 37 * j) % (i % 100 ? ROWS : ROWS + HALO);
      a.value[i][j] = 1.0 / (i + j + 1);
    }
  }
  double *x = calloc(ROWS + HALO, sizeof *x), *y = calloc(ROWS, sizeof *y), *out = calloc(HALO, sizeof *out);
  for (int i = 0; i < ROWS; i++)
    x[i] = i % 17 + rank;
  for (int round = 0; round < ROUNDS; round++) {
    exchange(x, out, 1 - rank);
    times(&a, x, y);
    for (int i = 0; i < ROWS; i++)
      x[i] += 0.001 * y[i];
  }
  asked = 0;
  for (int k = 0; k < QUIET; k++)
    times(&a, x, y);
  double sum = 0;
  for (int i = 0; i < ROWS; i++)
    sum += y[i];
  int quiet = asked == 0, all;
  double total;
  MPI_Allreduce(&quiet, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%s %.17g\n", all ? "quiet behind the end" : "asked behind the end", total);
  MPI_Finalize();
  return 0;
}
