/* Programs for trials of a manager: what each takes, or how late it is.
 *
 *     mixes duty BUSY_MS SLEEP_MS ROUNDS    computes for so much processor time, then sleeps, again and again: seconds
 *     mixes work MILLIONS                   steps of a fixed computation: seconds
 *     mixes beat PERIOD_MS ROUNDS           sleeps: the median, the 99th percentile and the most between two wakes, ms
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static void sleep_for(double s)
{
    struct timespec time = {(time_t)s, (long)((s - (time_t)s) * 1e9)};

    nanosleep(&time, NULL);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int n, char **words)
{
    double start = seconds(CLOCK_MONOTONIC);

    if (n == 5 && !strcmp(words[1], "duty")) {
        for (int left = atoi(words[4]); left > 0; left--) {
            double end = seconds(CLOCK_PROCESS_CPUTIME_ID) + atof(words[2]) / 1e3;

            while (seconds(CLOCK_PROCESS_CPUTIME_ID) < end)
                ;
            sleep_for(atof(words[3]) / 1e3);
        }
    } else if (n == 3 && !strcmp(words[1], "work")) {
        volatile unsigned long value = 1;

        for (unsigned long left = atol(words[2]) * 1000000; left > 0; left--)
            value = value * 3 + 1;
    } else if (n == 4 && !strcmp(words[1], "beat")) {
        int rounds = atoi(words[3]);
        double *gaps = calloc(rounds, sizeof *gaps), before = start;

        for (int i = 0; i < rounds; i++) {
            sleep_for(atof(words[2]) / 1e3);
            gaps[i] = (seconds(CLOCK_MONOTONIC) - before) * 1e3;
            before = seconds(CLOCK_MONOTONIC);
        }
        qsort(gaps, rounds, sizeof *gaps, compare);
        printf("beat %.1f %.1f %.1f\n", gaps[rounds / 2], gaps[rounds * 99 / 100], gaps[rounds - 1]);
        return 0;
    } else {
        return 1;
    }
    printf("took %.3f\n", seconds(CLOCK_MONOTONIC) - start);
    return 0;
}
