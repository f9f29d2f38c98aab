// A matrix in rows of different lengths, in classes with vectors, whose requests lie in one, too.
// What is received are the last elements of the vector and, in every second round, the bounds of
// the last rows.
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <vector>

struct Halo {
  std::vector<int> neighbours;
  std::vector<MPI_Request> requests;
  void exchange(const std::vector<double> &out, const std::vector<int> &bounds, double *in, int *newBounds, int n, int nBounds, bool both) {
    requests.clear();
    for (int rank : neighbours) {
      requests.emplace_back();
      MPI_Irecv(in, n, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, &requests.back());
      if (both) {
        requests.emplace_back();
        MPI_Irecv(newBounds, nBounds, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests.back());
      }
    }
    for (int rank : neighbours) {
      MPI_Send(out.data(), n, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD);
      if (both)
        MPI_Send(bounds.data(), nBounds, MPI_INT, rank, 2, MPI_COMM_WORLD);
    }
    for (MPI_Request &request : requests)
      MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
};

struct Matrix {
  int n, nHalo;
  std::vector<int> first, column;
  std::vector<double> value;
  Halo halo;
  void times(std::vector<double> &x, std::vector<double> &y, int round) {
    std::vector<double> out(x.begin() + round, x.begin() + round + nHalo);
    int from = n / 2, count = n - from + 1;
    std::vector<int> bounds(count);
    // As long as before, or one less.
    for (int i = 0; i < count; i++)
      bounds[i] = first[from + i] - (i > 0 && i + 1 < count && (i + round) % 3 == 0);
    halo.exchange(out, bounds, &x[n], &first[from], nHalo, count, round % 2 == 0);
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int j = first[i]; j < first[i + 1]; j++)
        sum += value[j] * x[column[j]];
      y[i] = sum;
    }
  }
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned long sum = 0;
  for (int seed = 1; seed <= 30; seed++) {
    Matrix a;
    a.n = 100 + 371 * seed % 2000, a.nHalo = 1 + seed * 7 % 90;
    a.halo.neighbours = {1 - rank};
    std::srand(seed);
    for (int i = 0; i < a.n; i++) {
      a.first.push_back(a.column.size());
      for (int j = 0, last = 1 + (i + seed) % 5; j < last; j++) {
        a.column.push_back(std::rand() % 20 == 0 ? a.n + std::rand() % a.nHalo : std::rand() % a.n);
        a.value.push_back(0.25 - 0.0625 * j);
      }
    }
    a.first.push_back(a.column.size());
    std::vector<double> x(a.n + a.nHalo), y(a.n + a.nHalo);
    for (int i = 0; i < a.n; i++)
      x[i] = i % 13 + rank;
    for (int round = 0; round < 8; round++) {
      a.times(x, y, round);
      std::swap(x, y);
    }
    for (int i = 0; i < a.n; i++)
      sum = sum * 31 + static_cast<long>(x[i] * 1024);
  }
  unsigned long all[2];
  MPI_Gather(&sum, 1, MPI_UNSIGNED_LONG, all, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("%lu %lu\n", all[0], all[1]);
  MPI_Finalize();
}
