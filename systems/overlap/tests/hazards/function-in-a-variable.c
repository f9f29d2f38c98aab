// A variable of another file holds a function of that file, which no declaration names.
#include <mpi.h>
#include <stdio.h>
typedef void (*Step)(double *, int, int);
#ifdef SECOND_FILE
static void step(double *a, int n, int pass) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // Rank 0 meets the others' broadcast in the first file, and they meet its one there.
  if ((rank == 0) == (pass == 0))
    MPI_Bcast(a, n, MPI_DOUBLE, 1, MPI_COMM_WORLD);
}
Step the_step = step;
#else
extern Step the_step;
static double a[40000], x[5000];
int main(int argc, char **argv) {
  int rank;
  double sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 40000; i++)
    a[i] = rank + i;
  for (int pass = 0; pass < 2; pass++) {
    the_step(a, 40000, pass);
    if (pass == 0) {
      MPI_Bcast(a, 40000, MPI_DOUBLE, 1, MPI_COMM_WORLD);
      for (int i = 1; i < 5000; i++)
        x[i] = x[i - 1] * .5 + i;
    }
  }
  for (int i = 0; i < 40000; i++)
    sum += a[i];
  printf("%d %.17g %g\n", rank, sum, x[77]);
  MPI_Finalize();
}
#endif
