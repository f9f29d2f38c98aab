// Two labels of a switch lead to one block, behind more blocks than a search goes through.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define B1(k) case 2*(k): case 2*(k)+1: \
  for (int i = 0; i < n; i++) x[i] = x[i] * (1.0 + (k)) + buf[i % ((k) + 2)]; break;
#define B5(k) B1(k) B1((k)+1) B1((k)+2) B1((k)+3) B1((k)+4)
#define B25(k) B5(k) B5((k)+5) B5((k)+10) B5((k)+15) B5((k)+20)
#define B100(k) B25(k) B25((k)+25) B25((k)+50) B25((k)+75)
int main(int argc, char **argv) {
  int rank, n = 50000; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int sel = argc > 1 ? atoi(argv[1]) : 2 * 390 + 1;
  double *buf = calloc(n, 8), *x = calloc(n, 8), *y = calloc(n, 8), s = 0;
  if (rank == 0) {
    usleep(300000); for (int i = 0; i < n; i++) buf[i] = i + 1;
    MPI_Send(buf, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(buf, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i < n; i++) y[i] = y[i - 1] * 0.5 + i;
    switch (sel) { B100(0) B100(100) B100(200) B100(300) }
    for (int i = 0; i < n; i++) s = s * 0.5 + x[i] + y[i];
    printf("%f\n", s);
  }
  MPI_Finalize();
}
