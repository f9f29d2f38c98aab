/* nBBMA of the paper: works in registers, uses neither cache nor memory. ROUNDS 0: until it is ended. */
#include "kernel.h"

int main(int n_words, char **words)
{
    struct arguments given = arguments(n_words, words);
    double product = 1;
    for (long round = 0; !given.rounds || round < given.rounds; round++)
        for (long i = 0; i < (given.large ? 10000000 : 1000); i++)
            product = product * 1.00000001 + 1e-9;
    return end("nBBMA", product, 0, 0);
}
