/* What the kernels share: `NAME small|large ROUNDS`, arrays, numbers that look random, and the last line.
 *
 * No result depends on the number of threads: sums are taken over blocks of fixed size, and the
 * blocks one after the other. The last line is `NAME checksum error`, the error of a check of the
 * kernel's own; above its limit it ends with 2.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    int large;
    long rounds;
};

static struct arguments arguments(int n, char **words)
{
    struct arguments it = {0, 0};
    if (n != 3 || (strcmp(words[1], "small") && strcmp(words[1], "large")) || (it.rounds = atol(words[2])) < 0) {
        fprintf(stderr, "usage: %s small|large ROUNDS\n", words[0]);
        exit(1);
    }
    it.large = words[1][0] == 'l';
    return it;
}

static void *array(long n_bytes)
{
    void *it = aligned_alloc(64, (size_t)(n_bytes + 63) / 64 * 64);
    if (!it) {
        fprintf(stderr, "no memory\n");
        exit(2);
    }
    return it;
}

/* From 0 to 1, the same for the same number. */
static inline double noise(uint64_t i)
{
    i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9u;
    i = (i ^ (i >> 27)) * 0x94d049bb133111ebu;
    return (double)((i ^ (i >> 31)) >> 11) / 9007199254740992.0;
}

#define BLOCK 4096

/* The sum of x[i] * y[i]. */
static inline double dot(const double *x, const double *y, long n)
{
    long n_blocks = (n + BLOCK - 1) / BLOCK;
    double *part = array(n_blocks * (long)sizeof *part), sum = 0;
#pragma omp parallel for
    for (long b = 0; b < n_blocks; b++) {
        long end = (b + 1) * BLOCK < n ? (b + 1) * BLOCK : n;
        double own = 0;
        for (long i = b * BLOCK; i < end; i++)
            own += x[i] * y[i];
        part[b] = own;
    }
    for (long b = 0; b < n_blocks; b++)
        sum += part[b];
    free(part);
    return sum;
}

static int end(const char *name, double checksum, double error, double limit)
{
    printf("%s %.17g %.3g\n", name, checksum, error);
    return error <= limit ? 0 : 2;
}
