// Conjugate gradient on a one-dimensional Laplacian split over the ranks, with exceptions for what
// goes wrong, a vector class, and wrappers for communication.
//
// cg [unknowns a rank] [iterations]
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace {

using Vector = std::vector<double>;

int rank, size;

// Values of the neighbours' border cells.
struct Halo {
  double below = 0, above = 0;
};

Halo exchange(const Vector &x) {
  Halo halo;
  int down = rank > 0 ? rank - 1 : MPI_PROC_NULL, up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(&x.front(), 1, MPI_DOUBLE, down, 1, &halo.above, 1, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&x.back(), 1, MPI_DOUBLE, up, 2, &halo.below, 1, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return halo;
}

double dot(const Vector &x, const Vector &y) {
  double here = 0, everywhere = 0;
  for (std::size_t i = 0; i < x.size(); i++)
    here += x[i] * y[i];
  MPI_Allreduce(&here, &everywhere, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return everywhere;
}

void multiply(const Vector &x, Vector &y) {
  Halo halo = exchange(x);
  std::size_t n = x.size();
  for (std::size_t i = 1; i + 1 < n; i++)
    y[i] = 2.5 * x[i] - x[i - 1] - x[i + 1];
  y[0] = 2.5 * x[0] - halo.below - x[1];
  y[n - 1] = 2.5 * x[n - 1] - x[n - 2] - halo.above;
}

double solve(std::size_t n, int iterations) {
  if (n < 2)
    throw std::invalid_argument("two unknowns a rank are needed");
  Vector x(n), r(n), p(n), q(n);
  for (std::size_t i = 0; i < n; i++)
    r[i] = p[i] = 1.0 + static_cast<double>((i * 7 + static_cast<std::size_t>(rank)) % 5);
  double rho = dot(r, r);
  for (int k = 0; k < iterations && rho > 1e-20; k++) {
    multiply(p, q);
    double alpha = rho / dot(p, q);
    for (std::size_t i = 0; i < n; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    double next = dot(r, r);
    for (std::size_t i = 0; i < n; i++)
      p[i] = r[i] + next / rho * p[i];
    rho = next;
  }
  // The last part of the solution travels to the next rank while the sum is made.
  Vector other(n);
  MPI_Sendrecv(x.data(), static_cast<int>(n), MPI_DOUBLE, (rank + 1) % size, 3, other.data(), static_cast<int>(n), MPI_DOUBLE,
               (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  double sum = 0;
  for (std::size_t i = 0; i < n; i++)
    sum = sum * 0.5 + std::sqrt(std::fabs(r[i]) + 1) + q[i];
  return sum + other[n / 2] + dot(x, x);
}

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int code = 0;
  try {
    double sum = solve(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 50000, argc > 2 ? std::atoi(argv[2]) : 20);
    double everywhere = 0;
    MPI_Reduce(&sum, &everywhere, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
      std::printf("checksum %.17g\n", everywhere);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    code = 1;
  }
  MPI_Finalize();
  return code;
}
