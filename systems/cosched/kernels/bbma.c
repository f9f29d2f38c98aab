/* BBMA of the paper: back-to-back accesses to the memory, each to a line that no cache has. ROUNDS 0: until it is ended. */
#include "kernel.h"

int main(int n_words, char **words)
{
    struct arguments given = arguments(n_words, words);
    long n = (given.large ? 256l << 20 : 1l << 20) / 8;
    double *memory = array(n * 8);
    memset(memory, 0, (size_t)n * 8);
    for (long round = 0; !given.rounds || round < given.rounds; round++)
        for (long i = 0; i < n; i++)
            memory[i] += 1;
    return end("BBMA", dot(memory, memory, n), 0, 0);
}
