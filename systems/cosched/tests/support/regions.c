/* Parallel regions until the team has been 2, 1 and 4; prints each change, and a sum that no team may change. */
#include <omp.h>
#include <stdio.h>
#include <time.h>

static long part(long from, long to)
{
    long sum = 0;
    for (long i = from; i < to; i++)
        sum += i * i % 7;
    return sum;
}

int main(void)
{
    int last = 0, n_seen = 0;
    const int wanted[3] = {2, 1, 4};
    time_t end = time(0) + 300;
    while (n_seen < 3 && time(0) < end) {
        long sum = 0;
        int n = 0;
#pragma omp parallel for reduction(+ : sum) schedule(SCHEDULE)
        for (long i = 0; i < 100; i++)
            sum += part(i * 1000, (i + 1) * 1000);
#pragma omp parallel
#pragma omp single
        n = omp_get_num_threads();
        if (sum != part(0, 100000)) {
            printf("wrong sum with %d threads\n", n);
            return 1;
        }
        if (n != last) {
            printf("%d\n", n);
            fflush(stdout);
            last = n;
        }
        if (n == wanted[n_seen])
            n_seen++;
    }
    return n_seen == 3 ? 0 : 2;
}
