/* Derivations: what a word is without its endings and prefixes. */
#include "spell.h"

struct ending {
    char ending[6], instead[5];
};

static const struct ending endings[] = {
    {"s", ""},     {"es", ""},    {"ies", "y"},  {"ed", ""},    {"ed", "e"},   {"ied", "y"},  {"ing", ""},  {"ing", "e"},
    {"er", ""},    {"er", "e"},   {"ier", "y"},  {"est", ""},   {"est", "e"},  {"iest", "y"}, {"ly", ""},   {"ily", "y"},
    {"ness", ""},  {"iness", "y"}, {"able", ""}, {"able", "e"}, {"ment", ""},  {"less", ""},  {"ful", ""},  {"ion", ""},
    {"ion", "e"},  {"ity", "e"},  {"ally", "al"}, {"ise", "ize"}, {"ised", "ize"}, {"our", "or"},
};

static const char prefixes[][6] = {"un", "re", "non", "dis", "over", "out", "mis", "pre", "sub", "inter"};

static inline unsigned length(const char *text)
{
    unsigned n = 0;
    while (text[n])
        n++;
    return n;
}

static inline int ends(const char *word, unsigned n, const char *ending, unsigned n_ending)
{
    if (n < n_ending + 2)
        return 0;
    for (unsigned i = 0; i < n_ending; i++)
        if (word[n - n_ending + i] != ending[i])
            return 0;
    return 1;
}

/* The word with another ending. */
static int without(const struct dictionary *d, const char *word, unsigned n, const struct ending *it, unsigned depth)
{
    char stem[WORD_MAX + 8];
    unsigned n_stem = n - length(it->ending);
    for (unsigned i = 0; i < n_stem; i++)
        stem[i] = word[i];
    for (const char *c = it->instead; *c; c++)
        stem[n_stem++] = *c;
    if (derived(d, stem, n_stem, depth + 1))
        return 1;
    /* A doubled consonant: running, run. */
    return !it->instead[0] && n_stem > 3 && stem[n_stem - 1] == stem[n_stem - 2] && derived(d, stem, n_stem - 1, depth + 1);
}

static int by_ending(const struct dictionary *d, const char *word, unsigned n, unsigned depth)
{
    for (unsigned i = 0; i < sizeof endings / sizeof *endings; i++) {
        const struct ending *it = &endings[i];
        if (ends(word, n, it->ending, length(it->ending)) && without(d, word, n, it, depth))
            return 1;
    }
    return 0;
}

static int by_prefix(const struct dictionary *d, const char *word, unsigned n, unsigned depth)
{
    for (unsigned i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        unsigned n_prefix = length(prefixes[i]), same = 0;
        while (same < n_prefix && same < n && word[same] == prefixes[i][same])
            same++;
        if (same == n_prefix && n >= n_prefix + 3 && derived(d, word + n_prefix, n - n_prefix, depth + 1))
            return 1;
    }
    return 0;
}

int derived(const struct dictionary *d, const char *word, unsigned n, unsigned depth)
{
    if (dictionary_has(d, word, n))
        return 1;
    if (depth == 3)
        return 0;
    return by_ending(d, word, n, depth) || by_prefix(d, word, n, depth);
}
