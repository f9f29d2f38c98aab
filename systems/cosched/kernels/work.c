/* Programs of one kind of work each, for measurements: `work read|write|compute AMOUNT`.
 * read: loads through 256 MB, AMOUNT GB altogether; write: stores that bypass the caches; compute:
 * AMOUNT times 10 million dependent multiplications. Prints a number that depends on all of it.
 *
 * `work duty STEPS SLEEP_US MB SECONDS BEGIN` waits until BEGIN, in seconds of the wall clock, so that
 * all of a mix begin at once, then computes STEPS steps and sleeps, again and again for so long; a
 * step is 1,000 dependent multiplications, or goes through 64 KB more of its MB of memory,
 * if it has any. Prints its steps a second, and the median and the 99th percentile of the
 * milliseconds from when a sleep should end to when the steps after it are done, and how many
 * seconds too late it began. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define BYTES (256l << 20)

static uint64_t read_all(const uint64_t *memory)
{
    uint64_t sum[8] = {0};
    for (long i = 0; i < BYTES / 8; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += memory[i + k];
    return sum[0] ^ sum[1] ^ sum[2] ^ sum[3] ^ sum[4] ^ sum[5] ^ sum[6] ^ sum[7];
}

static void write_all(uint64_t *memory, uint64_t value)
{
#if defined(__x86_64__)
    for (long i = 0; i < BYTES / 8; i += 2)
        _mm_stream_si128((__m128i *)(memory + i), _mm_set1_epi64x((long long)value));
    _mm_sfence();
#else
    for (long i = 0; i < BYTES / 8; i++)
        memory[i] = value;
#endif
}

static double now_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static void sleep_until(clockid_t clock, double due)
{
    struct timespec until = {(time_t)due, (long)((due - (time_t)due) * 1e9)};
    clock_nanosleep(clock, TIMER_ABSTIME, &until, NULL);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int duty(long steps, double sleep_s, long mb, double seconds, double begin)
{
    enum { ROUNDS = 1 << 20, STEP = 64 << 10 };
    double *took = malloc(ROUNDS * sizeof *took), product = 1;
    long bytes = mb << 20, at = 0, n = 0;
    char *memory = bytes ? malloc(bytes) : NULL;
    uint64_t sum = 0;
    if (!took || (bytes && !memory))
        return 2;
    if (bytes)
        memset(memory, 1, bytes);
    double late = now_s(CLOCK_REALTIME) - begin;
    if (late < 0)
        sleep_until(CLOCK_REALTIME, begin);
    double start = now_s(CLOCK_MONOTONIC), due = start, end = start;
    for (; end - start < seconds && n < ROUNDS; n++) {
        for (long step = 0; step < steps; step++) {
            if (!bytes) {
                for (int i = 0; i < 1000; i++)
                    product *= 1.00000001;
                continue;
            }
            for (const uint64_t *word = (const uint64_t *)(memory + at), *last = word + STEP / 8; word < last; word++)
                sum += *word;
            at = at + STEP < bytes ? at + STEP : 0;
        }
        end = now_s(CLOCK_MONOTONIC);
        took[n] = (end - due) * 1e3;
        due = end;
        if (sleep_s > 0) {
            due += sleep_s;
            sleep_until(CLOCK_MONOTONIC, due);
        }
    }
    qsort(took, n, sizeof *took, compare);
    printf("duty %.6g %.4f %.4f %.3f\n", n * steps / (end - start), took[n / 2], took[n * 99 / 100], late > 0 ? late : 0);
    fprintf(stderr, "%llu %g\n", (unsigned long long)sum, product);
    return 0;
}

int main(int n_arguments, char **arguments)
{
    if (n_arguments == 7 && !strcmp(arguments[1], "duty"))
        return duty(atol(arguments[2]), atof(arguments[3]) / 1e6, atol(arguments[4]), atof(arguments[5]), atof(arguments[6]));
    if (n_arguments != 3) {
        fprintf(stderr, "usage: work read|write|compute AMOUNT, or work duty STEPS SLEEP_US MB SECONDS BEGIN\n");
        return 1;
    }
    long amount = atol(arguments[2]);
    uint64_t sum = 0;
    double product = 1;
    if (arguments[1][0] == 'c') {
        for (long i = 0; i < amount * 10000000; i++)
            product *= 1.00000001;
    } else {
        uint64_t *memory = aligned_alloc(64, BYTES);
        if (!memory)
            return 2;
        memset(memory, 1, BYTES);
        for (long i = 0; i < amount * 4; i++) {
            if (arguments[1][0] == 'w')
                write_all(memory, (uint64_t)i);
            else
                sum += read_all(memory);
        }
        sum += memory[BYTES / 16];
    }
    printf("%llu %g\n", (unsigned long long)sum, product);
    return 0;
}
