/* Dictionaries: loaded from a stream, asked for words. */
#include "spell.h"

/* The largest primes below 400,000. */
static const unsigned primes[N_HASHES] = {399989, 399983, 399979, 399953, 399941, 399937, 399913, 399911, 399899, 399887, 399871};

void dictionary_load(struct dictionary *d, struct stream *from)
{
    unsigned at = 0;
    while (at < DICTIONARY_BYTES) {
        unsigned n = stream_read(from, d->bits + at, 4);
        if (n == 0)
            break;
        at += n;
    }
}

static __attribute__((noinline)) unsigned hash(const char *word, unsigned n, unsigned prime)
{
    unsigned sum = n;
    for (unsigned i = 0; i < n; i++)
        sum = sum * 61 + (unsigned char)word[i] * (prime & 1023);
    return sum % prime;
}

int dictionary_has(const struct dictionary *d, const char *word, unsigned n)
{
    for (unsigned i = 0; i < N_HASHES; i++) {
        unsigned at = hash(word, n, primes[i]);
        if (!(d->bits[at >> 3] & (1u << (at & 7))))
            return 0;
    }
    return 1;
}
