/* The access pattern of SP: scalar systems of five diagonals along the lines of a grid, in x, y and z. */
#include "kernel.h"

#define PLACES 5
#define LINE_MAX 128

typedef double vector[PLACES];

static long n;
static vector *u, *r;

/* Five diagonals at a point; the one in the middle outweighs the others. */
static void diagonals(double value, double d[5])
{
    d[0] = 0.2 * value;
    d[1] = -1 - 0.1 * value;
    d[2] = 5;
    d[3] = -1 + 0.1 * value;
    d[4] = 0.2 - 0.1 * value;
}

static void solve(long first, long step, int k)
{
    double above[LINE_MAX], far[LINE_MAX];
    for (long i = 0; i < n; i++) {
        long at = first + i * step;
        double d[5];
        diagonals(u[at][k], d);
        double x = r[at][k];
        if (i > 1) {
            d[1] -= d[0] * above[i - 2];
            d[2] -= d[0] * far[i - 2];
            x -= d[0] * r[at - 2 * step][k];
        }
        if (i > 0) {
            d[2] -= d[1] * above[i - 1];
            d[3] -= d[1] * far[i - 1];
            x -= d[1] * r[at - step][k];
        }
        above[i] = d[3] / d[2];
        far[i] = d[4] / d[2];
        r[at][k] = x / d[2];
    }
    for (long i = n - 2; i >= 0; i--) {
        long at = first + i * step;
        r[at][k] -= above[i] * r[at + step][k];
        if (i < n - 2)
            r[at][k] -= far[i] * r[at + 2 * step][k];
    }
}

/* How far the solution of a line is from one. */
static double check(const double *before, long first, long step)
{
    double most = 0;
    for (long i = 0; i < n; i++) {
        double d[5], sum = 0;
        diagonals(u[first + i * step][0], d);
        for (long k = -2; k <= 2; k++)
            if (i + k >= 0 && i + k < n)
                sum += d[k + 2] * r[first + (i + k) * step][0];
        most = fmax(most, fabs(sum - before[i]));
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
            double before[LINE_MAX];
            for (long i = 0; i < n; i++)
                before[i] = r[i * steps[d]][0];
#pragma omp parallel for
            for (long k = 0; k < n; k++)
                for (long j = 0; j < n; j++)
                    for (int place = 0; place < PLACES; place++)
                        solve(k * other + j * one, steps[d], place);
            error = fmax(error, check(before, 0, steps[d]));
        }
#pragma omp parallel for
        for (long i = 0; i < n * n * n; i++)
            for (int k = 0; k < PLACES; k++)
                u[i][k] += 0.1 * r[i][k];
    }
    return end("SP", dot(u[0], u[0], n * n * n * PLACES), error, 1e-10);
}
