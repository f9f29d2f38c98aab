/* T2 and T3: the filters between the words of the text and the misspelt ones. */
#include "spell.h"

/* Marks the bytes that T2 writes, so that the words of both writers can be told apart. */
#define MARK 0x80u

static struct dictionary stop, words;

/* T2: words that look derived but are wrong go to the output, others on to T3. */
void spell1(void *unused)
{
    char word[WORD_MAX];
    int n;
    (void)unused;
    dictionary_load(&stop, &streams[S5]);
    while ((n = word_read(&streams[S2], word)) >= 0) {
        if (dictionary_has(&stop, word, (unsigned)n))
            word_write(&streams[S4], word, (unsigned)n, MARK);
        else
            word_write(&streams[S3], word, (unsigned)n, 0);
    }
    stream_close(&streams[S3]);
    stream_close(&streams[S4]);
}

/* T3: words that are neither in the dictionary nor derived from one that is go to the output. */
void spell2(void *unused)
{
    char word[WORD_MAX];
    int n;
    (void)unused;
    dictionary_load(&words, &streams[S6]);
    while ((n = word_read(&streams[S3], word)) >= 0)
        if (!derived(&words, word, (unsigned)n, 0))
            word_write(&streams[S4], word, (unsigned)n, 0);
    stream_close(&streams[S4]);
}
