// A sparse matrix times a vector behind an exchange of its halo: the rows go on while messages are
// pending, and end them by MPI_Test, which the program does not declare. Behind the last round
// nothing is pending, so no question comes from the product there. The program is its own
// MPI_Iprobe, and counts.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { ROWS = 40000, WIDTH = 16, HALO = 4000, ROUNDS = 6, QUIET = 200 };
// Read where it says: the compiler knows that no loop of the program changes it, but polls are to
// come.
static volatile int asked;
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  (void)source, (void)tag, (void)comm, (void)status;
  asked++;
  *flag = 0;
  return MPI_SUCCESS;
}
struct halo {
  int n_neighbours, *neighbour, *length;
  double *out;
};
struct matrix {
  int rows, *length, **column;
  double **value;
};
// As in a mini-application: the requests lie in memory, and so does the number of neighbours.
__attribute__((noinline)) static void exchange(const struct halo *halo, double *x) {
  MPI_Request *request = malloc(halo->n_neighbours * sizeof *request);
  MPI_Status status;
  double *in = x + ROWS;
  for (int k = 0; k < halo->n_neighbours; k++) {
    MPI_Irecv(in, halo->length[k], MPI_DOUBLE, halo->neighbour[k], 7, MPI_COMM_WORLD, request + k);
    in += halo->length[k];
  }
  double *out = halo->out;
  for (int i = 0; i < HALO; i++)
    out[i] = x[i];
  for (int k = 0; k < halo->n_neighbours; k++) {
    MPI_Send(out, halo->length[k], MPI_DOUBLE, halo->neighbour[k], 7, MPI_COMM_WORLD);
    out += halo->length[k];
  }
  for (int k = 0; k < halo->n_neighbours; k++)
    if (MPI_Wait(request + k, &status))
      abort();
  free(request);
}
__attribute__((noinline)) static void times(const struct matrix *a, const double *x, double *y) {
  for (int i = 0; i < a->rows; i++) {
    double sum = 0;
    for (int j = 0; j < a->length[i]; j++)
      sum += a->value[i][j] * x[a->column[i][j]];
    y[i] = sum;
  }
}
// Called while messages are pending, and behind them.
__attribute__((noinline)) static double dot(const double *x, const double *y) {
  double sum = 0;
  for (int i = 0; i < ROWS; i++)
    sum += x[i] * y[i];
  return sum;
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
  double *x = calloc(ROWS + HALO, sizeof *x), *y = calloc(ROWS, sizeof *y);
  struct halo halo = {1, malloc(sizeof(int)), malloc(sizeof(int)), calloc(HALO, sizeof(double))};
  halo.neighbour[0] = 1 - rank;
  halo.length[0] = HALO;
  for (int i = 0; i < ROWS; i++)
    x[i] = i % 17 + rank;
  for (int round = 0; round < ROUNDS; round++) {
    exchange(&halo, x);
    times(&a, x, y);
    double sum = dot(y, y), all;
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < ROWS; i++)
      x[i] += 0.001 * y[i] / all;
  }
  asked = 0;
  double sum = 0;
  for (int k = 0; k < QUIET; k++) {
    times(&a, x, y);
    sum += dot(x, y);
  }
  int quiet = asked == 0, all;
  double total;
  MPI_Allreduce(&quiet, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%s %.17g\n", all ? "quiet behind the end" : "asked behind the end", total);
  MPI_Finalize();
  return 0;
}
