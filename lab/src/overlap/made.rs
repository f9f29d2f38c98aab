//! C programs that are made, so that a compilation has the size and the density of calls that a
//! measurement asks for.

use std::fmt::Write;

/// A C program of about `n_lines` lines in which a call of MPI comes every `lines_a_call`
/// lines: exchanges behind wrappers that check their return code, sums, broadcasts, and loops
/// of several shapes between them.
pub fn program(n_lines: usize, lines_a_call: usize) -> String {
    let mut text =
        "#include <math.h>\n#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n".to_owned();
    let mut calls = String::new();
    let mut unit = 0;
    while text.lines().count() < n_lines {
        let kernels =
            (CALLS_A_STEP * lines_a_call).saturating_sub(STEP_LINES).div_ceil(KERNEL_LINES).max(1);
        let mut work = String::new();
        for kernel in 0..kernels {
            let shape =
                SHAPES[(unit + kernel) % SHAPES.len()].replace("NUMBER", &(kernel + 1).to_string());
            text += &KERNEL
                .replace("SHAPE", &shape)
                .replace("UNIT", &unit.to_string())
                .replace("KERNEL", &kernel.to_string());
            let (to, from) = if kernel % 2 == 0 { ("v", "u") } else { ("w", "v") };
            let _ = writeln!(work, "    sum += work_{unit}_{kernel}({to}, {from}, n);");
        }
        text += &STEP.replace("WORK", &work).replace("UNIT", &unit.to_string());
        let _ = writeln!(calls, "  total += step_{unit}(u, v, w, halo, n, up, down);");
        unit += 1;
    }
    text + &MAIN.replace("CALLS", &calls)
}

const CALLS_A_STEP: usize = 3;
const STEP_LINES: usize = 26;
const KERNEL_LINES: usize = 11;

const KERNEL: &str = "
__attribute__((noinline)) static double work_UNIT_KERNEL(double *restrict a, const double *restrict b, int n) {
  double s = 0;
SHAPE  return s;
}
";

const SHAPES: [&str; 4] = [
    "  for (int j = 1; j < n - 1; j++) {
    a[j] = 0.25 * (b[j - 1] + b[j + 1]) + 0.NUMBER * b[j];
    s += a[j] > 0.5 ? a[j] : sin(a[j]);
  }
",
    "  for (int j = 0; j < n; j++)
    if (b[j] > 0.NUMBER)
      a[j] += b[j] * b[0];
    else
      a[j] -= b[j];
  s = a[1];
",
    "  for (int j = 1; j < n; j++)
    a[j] = 0.5 * a[j - 1] + b[n - j] * NUMBER;
  for (int j = 0; j < n; j += 2)
    s += fabs(a[j]);
",
    "  for (int j = 0; j < n / 8; j++)
    for (int k = 0; k < 8; k++)
      a[j * 8 + k] += b[k * (n / 8) + j] / NUMBER;
  s = sqrt(a[0] * a[0] + 1);
",
];

const STEP: &str = "
static void exchange_UNIT(double *out, double *in, int n, int to, int from) {
  int code = MPI_Sendrecv(out, n, MPI_DOUBLE, to, UNIT, in, n, MPI_DOUBLE, from, UNIT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) {
    fprintf(stderr, \"exchange UNIT failed\\n\");
    exit(1);
  }
}

double step_UNIT(double *restrict u, double *restrict v, double *restrict w, double *restrict halo, int n, int up, int down) {
  double total = 0, sum = 0;
  for (int t = 0; t < 10; t++) {
    exchange_UNIT(u, halo, n, up, down);
WORK    for (int j = 0; j < n; j++)
      u[j] += halo[j] * 0.5;
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (t % 3 == 0)
      sum += total;
    MPI_Bcast(v, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  return total + sum;
}
";

const MAIN: &str = "
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int n = argc > 1 ? atoi(argv[1]) : 20000, up = (rank + 1) % size, down = (rank + size - 1) % size;
  double *u = calloc(n, sizeof(double)), *v = calloc(n, sizeof(double)), *w = calloc(n, sizeof(double)), *halo = calloc(n, sizeof(double));
  double total = 0;
CALLS  printf(\"%g\\n\", total);
  MPI_Finalize();
  return 0;
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_the_lines_and_calls_that_were_asked_for() {
        for (lines, lines_a_call) in [(10_000, 120), (10_000, 30), (500, 60)] {
            let text = program(lines, lines_a_call);
            let n_lines = text.lines().count();
            let n_calls = ["MPI_Sendrecv(", "MPI_Allreduce(", "MPI_Bcast("]
                .map(|word| text.matches(word).count())
                .iter()
                .sum::<usize>();
            assert!(n_lines >= lines && n_lines < lines + lines / 5 + 500, "{n_lines}");
            let found = n_lines as f64 / n_calls as f64;
            assert!(
                (found / lines_a_call as f64 - 1.0).abs() < 0.25,
                "{found} lines a call, not {lines_a_call}"
            );
        }
    }
}
