/* The access pattern of FT: three-dimensional Fourier transforms, one dimension after the other, there and back. */
#include "kernel.h"

#include <complex.h>

#define LINE_MAX 256

typedef double complex number;

static long nx, ny, nz;
static number *a, *root;

/* One line of n, which is gathered, transformed and put back; `sign` -1 goes back. */
static void transform(long first, long step, long n, int sign)
{
    number line[LINE_MAX];
    for (long i = 0, j = 0; i < n; i++) {
        line[j] = a[first + i * step];
        long bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
    }
    for (long half = 1; half < n; half *= 2)
        for (long from = 0; from < n; from += 2 * half)
            for (long k = 0; k < half; k++) {
                number w = root[k * (LINE_MAX / 2 / half)];
                number odd = (sign < 0 ? conj(w) : w) * line[from + half + k];
                line[from + half + k] = line[from + k] - odd;
                line[from + k] += odd;
            }
    for (long i = 0; i < n; i++)
        a[first + i * step] = line[i];
}

static void all(int sign)
{
#pragma omp parallel for
    for (long z = 0; z < nz; z++)
        for (long y = 0; y < ny; y++)
            transform((z * ny + y) * nx, 1, nx, sign);
#pragma omp parallel for
    for (long z = 0; z < nz; z++)
        for (long x = 0; x < nx; x++)
            transform(z * ny * nx + x, nx, ny, sign);
#pragma omp parallel for
    for (long y = 0; y < ny; y++)
        for (long x = 0; x < nx; x++)
            transform(y * nx + x, ny * nx, nz, sign);
}

int main(int n_words, char **words)
{
    struct arguments given = arguments(n_words, words);
    nx = given.large ? 256 : 16;
    ny = given.large ? 128 : 8;
    nz = given.large ? 128 : 16;
    long n = nx * ny * nz;
    a = array(n * (long)sizeof *a);
    root = array(LINE_MAX / 2 * (long)sizeof *root);
    for (long k = 0; k < LINE_MAX / 2; k++)
        root[k] = cexp(-2 * acos(-1) * I * (double)k / LINE_MAX);
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        a[i] = noise((uint64_t)(2 * i)) + I * noise((uint64_t)(2 * i + 1));
    double before = dot((double *)a, (double *)a, 2 * n), checksum = 0, error = 0;
    for (long round = 0; round < given.rounds; round++) {
        all(1);
        /* As much there as here, by Parseval. */
        double there = dot((double *)a, (double *)a, 2 * n) / (double)n;
        error = fmax(error, fabs(there / before - 1));
        checksum += creal(a[1]) + cimag(a[n / 2 + 3]);
        all(-1);
#pragma omp parallel for
        for (long i = 0; i < n; i++)
            a[i] /= (double)n;
    }
    for (long i = 0; i < n; i += 97)
        error = fmax(error, cabs(a[i] - noise((uint64_t)(2 * i)) - I * noise((uint64_t)(2 * i + 1))));
    return end("FT", checksum, error, 1e-11);
}
