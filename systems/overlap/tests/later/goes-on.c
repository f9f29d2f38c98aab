// A product whose halo is sent only when its other rows are there: process 1 sees the result of
// process 0, which lies in a file that both have in memory, and waits for it for a while.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
enum { N = 100000, HALO = 40000, EACH = 3 };
struct matrix {
  int *columns;
  double *values, *out;
};
// Reads what another process writes.
static double now(volatile double *at) { return *at; }
static void exchange(const struct matrix *a, double *x, int other) {
  MPI_Request *pending = malloc(2 * sizeof *pending);
  for (int i = 0; i < 2; i++)
    MPI_Irecv(x + N + i * HALO / 2, HALO / 2, MPI_DOUBLE, other, i, MPI_COMM_WORLD, &pending[i]);
  for (int i = 0; i < 2; i++)
    MPI_Send(a->out + i * HALO / 2, HALO / 2, MPI_DOUBLE, other, i, MPI_COMM_WORLD);
  MPI_Status status;
  for (int i = 0; i < 2; i++)
    if (MPI_Wait(&pending[i], &status))
      exit(1);
  free(pending);
}
static void product(const struct matrix *a, const double *x, double *y) {
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int j = 0; j < EACH; j++)
      sum += a->values[i * EACH + j] * x[a->columns[i * EACH + j]];
    y[i] = sum;
  }
}
static double solve(const struct matrix *a, double *x, double *y, int other, double *seconds) {
  double before = MPI_Wtime();
  exchange(a, x, other);
  *seconds = MPI_Wtime() - before;
  product(a, x, y);
  return y[0] + y[N - 1];
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int file = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, N * sizeof(double)))
    return 1;
  double *y = mmap(0, N * sizeof *y, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), *x = calloc(N + HALO, sizeof *x), seconds;
  struct matrix a = {malloc(N * EACH * sizeof(int)), malloc(N * EACH * sizeof(double)), calloc(HALO, sizeof(double))};
  for (int i = 0; i < N * EACH; i++) {
    a.columns[i] = i / EACH < N / 2 || i % EACH ? i / EACH : N + i % HALO;
    a.values[i] = 1 + i % 3;
  }
  for (int i = 0; i < N; i++)
    x[i] = 1;
  for (int i = 0; i < HALO; i++)
    a.out[i] = 2;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    int seen = 0;
    for (int tries = 0; tries < 1000 && !seen; tries++) {
      seen = now(&y[7]) != 0;
      nanosleep(&(struct timespec){0, 1000000}, 0);
    }
    double *mine = calloc(N, sizeof *mine), result = solve(&a, x, mine, 0, &seconds);
    printf("%s\nresult of 1: %f\n", seen ? "went on" : "stood still", result);
  } else {
    printf("result of 0: %f\n", solve(&a, x, y, 1, &seconds));
  }
  MPI_Finalize();
}
