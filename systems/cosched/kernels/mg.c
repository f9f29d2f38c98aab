/* The access pattern of MG: V-cycles of a seven-point Poisson equation with zero borders, stencils on all levels. */
#include "kernel.h"

#define LEVELS 6

static long size[LEVELS];
static int n_levels;
static double *u[LEVELS], *f[LEVELS], *r[LEVELS];

#define AT(n, x, y, z) (((z) * ((n) + 2) + (y)) * ((n) + 2) + (x))

static long cells(long n)
{
    return (n + 2) * (n + 2) * (n + 2);
}

/* r = f - A u, where A u is what the six neighbours lack; returns nothing, the border stays zero. */
static void residual(int level)
{
    long n = size[level], y1 = n + 2, z1 = y1 * y1;
    const double *in = u[level], *wanted = f[level];
    double *out = r[level];
#pragma omp parallel for
    for (long z = 1; z <= n; z++)
        for (long y = 1; y <= n; y++)
            for (long x = 1, i = AT(n, 1, y, z); x <= n; x++, i++)
                out[i] = wanted[i] - (6 * in[i] - in[i - 1] - in[i + 1] - in[i - y1] - in[i + y1] - in[i - z1] - in[i + z1]);
}

/* A damped step towards the solution. */
static void smooth(int level)
{
    residual(level);
    long all = cells(size[level]);
    double *out = u[level];
    const double *in = r[level];
#pragma omp parallel for
    for (long i = 0; i < all; i++)
        out[i] += in[i] * (0.8 / 6);
}

static void cycle(int level)
{
    int steps = level == n_levels - 1 ? 20 : 2;
    for (int i = 0; i < steps; i++)
        smooth(level);
    if (level < n_levels - 1) {
        residual(level);
        long n = size[level], half = size[level + 1];
        double *below = f[level + 1], *change = u[level + 1];
#pragma omp parallel for
        for (long z = 1; z <= half; z++)
            for (long y = 1; y <= half; y++)
                for (long x = 1; x <= half; x++) {
                    double sum = 0;
                    for (int k = 0; k < 8; k++)
                        sum += r[level][AT(n, 2 * x - (k & 1), 2 * y - (k >> 1 & 1), 2 * z - (k >> 2))];
                    /* A cell below stands for 8 of the same value: 4 faces to each neighbour, where it has one. */
                    below[AT(half, x, y, z)] = sum / 4;
                    change[AT(half, x, y, z)] = 0;
                }
        cycle(level + 1);
#pragma omp parallel for
        for (long z = 1; z <= n; z++)
            for (long y = 1; y <= n; y++)
                for (long x = 1; x <= n; x++)
                    u[level][AT(n, x, y, z)] += change[AT(half, (x + 1) / 2, (y + 1) / 2, (z + 1) / 2)];
        for (int i = 0; i < 2; i++)
            smooth(level);
    }
}

int main(int n_words, char **words)
{
    struct arguments given = arguments(n_words, words);
    long n = given.large ? 192 : 16;
    for (n_levels = 0; n_levels < LEVELS && n >= 4; n_levels++, n /= 2) {
        size[n_levels] = n;
        double **all[3] = {&u[n_levels], &f[n_levels], &r[n_levels]};
        for (int k = 0; k < 3; k++) {
            *all[k] = array(cells(n) * 8);
            memset(*all[k], 0, (size_t)cells(n) * 8);
        }
    }
    n = size[0];
#pragma omp parallel for
    for (long z = 1; z <= n; z++)
        for (long y = 1; y <= n; y++)
            for (long x = 1; x <= n; x++)
                f[0][AT(n, x, y, z)] = noise((uint64_t)AT(n, x, y, z)) - 0.5;
    residual(0);
    double first = dot(r[0], r[0], cells(n)), last = first;
    for (long round = 0; round < given.rounds; round++)
        cycle(0);
    residual(0);
    last = dot(r[0], r[0], cells(n));
    return end("MG", dot(u[0], u[0], cells(n)), sqrt(last / first), given.rounds ? 0.5 : 1);
}
