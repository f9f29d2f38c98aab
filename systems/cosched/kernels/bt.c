/* The access pattern of BT: block tridiagonal systems of 5 x 5 blocks along the lines of a grid, in x, y and z. */
#include "kernel.h"

#define PLACES 5
#define LINE_MAX 96

typedef double vector[PLACES];
typedef double block[PLACES][PLACES];

static long n;
static vector *u, *r;

/* The blocks of a point: below, at and above it. The one in the middle outweighs the others. */
static void blocks(const double *point, block a, block b, block c)
{
    for (int i = 0; i < PLACES; i++)
        for (int j = 0; j < PLACES; j++) {
            double it = 0.05 * point[i] * point[j];
            a[i][j] = (i == j ? -1 : 0) + it;
            c[i][j] = (i == j ? -1 : 0) - it;
            b[i][j] = (i == j ? 4 : 0) + 0.1 * point[(i + j) % PLACES];
        }
}

/* x - a y */
static void take(vector x, block a, const vector y)
{
    for (int i = 0; i < PLACES; i++)
        for (int j = 0; j < PLACES; j++)
            x[i] -= a[i][j] * y[j];
}

/* Solves b (c', r') = (c, r) in place. */
static void divide(block b, block c, vector r)
{
    for (int k = 0; k < PLACES; k++) {
        double pivot = 1 / b[k][k];
        for (int j = 0; j < PLACES; j++) {
            b[k][j] *= pivot;
            c[k][j] *= pivot;
        }
        r[k] *= pivot;
        for (int i = 0; i < PLACES; i++) {
            double it = b[i][k];
            if (i == k)
                continue;
            for (int j = 0; j < PLACES; j++) {
                b[i][j] -= it * b[k][j];
                c[i][j] -= it * c[k][j];
            }
            r[i] -= it * r[k];
        }
    }
}

static void solve(long first, long step)
{
    block a, b, c[LINE_MAX];
    for (long i = 0; i < n; i++) {
        long at = first + i * step;
        blocks(u[at], a, b, c[i]);
        if (i > 0) {
            for (int k = 0; k < PLACES; k++)
                for (int j = 0; j < PLACES; j++)
                    for (int l = 0; l < PLACES; l++)
                        b[k][j] -= a[k][l] * c[i - 1][l][j];
            take(r[at], a, r[at - step]);
        }
        divide(b, c[i], r[at]);
    }
    for (long i = n - 2; i >= 0; i--)
        take(r[first + i * step], c[i], r[first + (i + 1) * step]);
}

/* How far the solution of a line is from one. */
static double check(const vector *before, long first, long step)
{
    double most = 0;
    for (long i = 0; i < n; i++) {
        long at = first + i * step;
        block a, b, c;
        vector rest;
        memcpy(rest, before[i], sizeof rest);
        blocks(u[at], a, b, c);
        take(rest, b, r[at]);
        if (i > 0)
            take(rest, a, r[at - step]);
        if (i < n - 1)
            take(rest, c, r[at + step]);
        for (int k = 0; k < PLACES; k++)
            most = fmax(most, fabs(rest[k]));
    }
    return most;
}

int main(int n_words, char **words)
{
    struct arguments given = arguments(n_words, words);
    n = given.large ? LINE_MAX : 12;
    u = array(n * n * n * (long)sizeof *u);
    r = array(n * n * n * (long)sizeof *r);
#pragma omp parallel for
    for (long i = 0; i < n * n * n; i++)
        for (int k = 0; k < PLACES; k++)
            u[i][k] = noise((uint64_t)(i * PLACES + k));
    double error = 0;
    for (long round = 0; round < given.rounds; round++) {
#pragma omp parallel for
        for (long z = 0; z < n; z++)
            for (long i = z * n * n; i < (z + 1) * n * n; i++)
                for (int k = 0; k < PLACES; k++) {
                    long before = i > 0 ? i - 1 : i, after = i < n * n * n - 1 ? i + 1 : i;
                    r[i][k] = u[before][k] - 2 * u[i][k] + u[after][k];
                }
        const long steps[3] = {1, n, n * n};
        for (int d = 0; d < 3; d++) {
            long one = steps[(d + 1) % 3], other = steps[(d + 2) % 3];
            vector before[LINE_MAX];
            for (long i = 0; i < n; i++)
                memcpy(before[i], r[i * steps[d]], sizeof before[i]);
#pragma omp parallel for
            for (long k = 0; k < n; k++)
                for (long j = 0; j < n; j++)
                    solve(k * other + j * one, steps[d]);
            error = fmax(error, check(before, 0, steps[d]));
        }
#pragma omp parallel for
        for (long i = 0; i < n * n * n; i++)
            for (int k = 0; k < PLACES; k++)
                u[i][k] += 0.1 * r[i][k];
    }
    return end("BT", dot(u[0], u[0], n * n * n * PLACES), error, 1e-10);
}
