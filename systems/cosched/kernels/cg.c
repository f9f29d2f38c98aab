/* The access pattern of CG: a sparse matrix with random columns times a vector, in conjugate gradients. */
#include "kernel.h"

static long n, n_row;
static double *value;
static int32_t *column;

/* The matrix has 2 n_row on the diagonal, which outweighs the rest, and n_row others in each row, at i ^ mask(k): the
 * mask is its own inverse, so the row at the other end has one for us, with the same value. */
static void multiply(const double *x, double *y)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        double sum = 2 * (double)n_row * x[i];
        for (long k = i * n_row; k < (i + 1) * n_row; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}

static void add(double *y, double a, const double *x, double b)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        y[i] = b * y[i] + a * x[i];
}

int main(int n_words, char **words)
{
    struct arguments given = arguments(n_words, words);
    n = given.large ? 1l << 18 : 1l << 10;
    n_row = given.large ? 32 : 8;
    value = array(n * n_row * (long)sizeof *value);
    column = array(n * n_row * (long)sizeof *column);
    double *x = array(n * 8), *r = array(n * 8), *p = array(n * 8), *q = array(n * 8);
    int32_t mask[32];
    for (long k = 0; k < n_row; k++)
        mask[k] = 1 + (int32_t)(noise((uint64_t)k) * (double)(n - 1));
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        for (long k = 0; k < n_row; k++) {
            long other = i ^ mask[k];
            /* Symmetric: the value depends on the two and not on their order. */
            value[i * n_row + k] = noise((uint64_t)((i < other ? i : other) * n_row + k)) - 0.5;
            column[i * n_row + k] = (int32_t)other;
        }
    double checksum = 0, error = 0;
    for (long round = 0; round < given.rounds; round++) {
#pragma omp parallel for
        for (long i = 0; i < n; i++) {
            x[i] = 0;
            r[i] = p[i] = 1 + noise((uint64_t)(round * n + i));
        }
        double rr = dot(r, r, n), first = rr;
        for (int step = 0; step < 15; step++) {
            multiply(p, q);
            double alpha = rr / dot(p, q, n), before = rr;
            add(x, alpha, p, 1);
            add(r, -alpha, q, 1);
            rr = dot(r, r, n);
            add(p, 1, r, rr / before);
        }
        error = fmax(error, sqrt(rr / first));
        checksum += dot(x, x, n);
    }
    return end("CG", checksum, error, 1e-8);
}
