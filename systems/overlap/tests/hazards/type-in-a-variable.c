// One call sends by a type of MPI and then by one of the program's, which names two other arrays by
// their distance; the program changes them next.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
enum { N = 20000 };
static double at[N], one[N], other[N], x[N];
MPI_Datatype type;
__attribute__((noinline)) static void choose(int own) {
  type = MPI_DOUBLE;
  if (own) {
    int lengths[2] = {N, N};
    MPI_Aint from, places[2];
    MPI_Get_address(at, &from);
    MPI_Get_address(one, &places[0]);
    MPI_Get_address(other, &places[1]);
    places[0] -= from;
    places[1] -= from;
    MPI_Type_create_hindexed(2, lengths, places, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
  }
}
__attribute__((noinline)) static double work(double *restrict to) {
  for (int k = 0; k < 200; k++)
    for (int i = 1; i < N; i++)
      to[i] = 0.5 * to[i] + 0.25 * to[i - 1] + 1;
  return to[N - 1];
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int own = 0; own < 2; own++) {
    choose(own);
    for (int i = 0; i < N; i++)
      at[i] = one[i] = other[i] = rank ? 0 : i + argc;
    if (rank == 0) {
      MPI_Send(at, own ? 1 : N, type, 1, 0, MPI_COMM_WORLD);
      work(one);
      work(other);
      printf("%d %f %f\n", own, one[N - 1], other[N - 1]);
    } else {
      usleep(200000);
      MPI_Recv(at, own ? 1 : N, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      double sum = work(x) + one[7];
      printf("%d %f %f %f\n", own, sum, at[5], other[N - 1]);
    }
  }
  MPI_Finalize();
}
