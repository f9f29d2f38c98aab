/* Goes through so many MB again and again, with so many steps of work between two lines, reading (r)
   or writing (w), for so many seconds of processor time; then says at which rate:
   reader MB STEPS r|w SECONDS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 1;
    size_t size = (size_t)atol(argv[1]) << 20, lines = size / 64;
    int steps = atoi(argv[2]), writes = *argv[3] == 'w';
    volatile char *memory = malloc(size);
    memset((char *)memory, 1, size);
    unsigned sum = 0;
    double moved = 0, start = seconds();
    while (seconds() - start < atof(argv[4])) {
        for (size_t line = 0; line < lines; line++) {
            for (int k = 0; k < steps; k++) {
                sum = sum * 5 + 1;
                __asm__ volatile("" : "+r"(sum));
            }
            if (writes)
                memory[64 * line] += 1;
            else
                sum += memory[64 * line];
        }
        moved += size;
    }
    printf("%.0f\n", moved / 1e6 / (seconds() - start));
    return sum == 42;
}
