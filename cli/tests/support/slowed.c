/* slowed FILE: computes, then writes a byte, and takes half as long again while somebody counts in FILE.
 * slowed FILE count: counts there. slowed FILE spin: only computes. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static void spin(double seconds)
{
    double start = cpu_s();

    while (cpu_s() - start < seconds)
        ;
}

int main(int n, char **words)
{
    int file = open(words[1], O_RDWR);
    int out = open("/dev/null", O_WRONLY);
    volatile unsigned long *count = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    if (file < 0 || out < 0 || count == MAP_FAILED)
        return 1;
    for (;;) {
        unsigned long before = *count;

        if (n > 2 && !strcmp(words[2], "count")) {
            ++*count;
            continue;
        }
        spin(0.002);
        if (n > 2)
            continue;
        if (*count != before)
            spin(0.001);
        if (write(out, "", 1) != 1)
            return 1;
    }
}
