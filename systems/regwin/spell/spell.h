/* The spell checker: threads and streams of Hidaka, Koike and Tanaka (1993), figure 10.
 *
 *   T4 input -S1-> T1 delatex -S2-> T2 spell1 -S3-> T3 spell2
 *   T6 dict1 -S5-> T2    T7 dict2 -S6-> T3    T2, T3 -S4-> T5 output
 */
#ifndef SPELL_H
#define SPELL_H
#include "regwin.h"

#define WORD_MAX 40
#define DICTIONARY_BITS 400000u
#define DICTIONARY_BYTES (DICTIONARY_BITS / 8)
#define N_HASHES 11

/* S1 to S6 are streams[0] to streams[5]. */
extern struct stream streams[];
enum { S1, S2, S3, S4, S5, S6 };

/* A bit table as in the spell program of Unix version 7: a word is in it if 11 bits are set. */
struct dictionary {
    unsigned char bits[DICTIONARY_BYTES];
};

void dictionary_load(struct dictionary *d, struct stream *from);
int dictionary_has(const struct dictionary *d, const char *word, unsigned n);

/* Reads a word and its line end, in lower case; its length, or -1 at the end. */
int word_read(struct stream *from, char *word);
/* Writes a word and a line end; `mark` is or-ed into each byte. */
void word_write(struct stream *to, const char *word, unsigned n, unsigned mark);

/* True if the word is in the dictionary, or derived from one that is. */
int derived(const struct dictionary *d, const char *word, unsigned n, unsigned depth);

void delatex(void *);
void spell1(void *);
void spell2(void *);
void input(void *);
void output(void *);
void dict1(void *);
void dict2(void *);

#endif
