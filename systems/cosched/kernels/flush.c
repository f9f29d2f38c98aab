/* FLUSH of the paper: writes over the cache once, then uses what is there until it is stopped; again each round.
 * ROUNDS 0: until it is ended. */
#include "kernel.h"

int main(int n_words, char **words)
{
    struct arguments given = arguments(n_words, words);
    /* More than a last-level cache, and a part that stays in a first-level one. */
    long n = (given.large ? 64l << 20 : 1l << 20) / 8, near = 2048;
    double *memory = array(n * 8), sum = 0;
    memset(memory, 0, (size_t)n * 8);
    for (long round = 0; !given.rounds || round < given.rounds; round++) {
        for (long i = 0; i < n; i += 8)
            memory[i] += 1;
        /* A good part of a quantum. */
        for (long again = 0; again < (given.large ? 350000 : 10); again++)
            for (long i = 0; i < near; i += 8)
                sum += memory[i];
    }
    return end("FLUSH", sum, 0, 0);
}
