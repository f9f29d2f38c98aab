/* Words between threads: one a line. */
#include "spell.h"

int word_read(struct stream *from, char *word)
{
    int n = 0, c;
    while ((c = stream_get(from)) != '\n') {
        if (c < 0)
            return -1;
        if (c >= 'A' && c <= 'Z')
            c += 'a' - 'A';
        if (n < WORD_MAX)
            word[n++] = (char)c;
    }
    return n;
}

void word_write(struct stream *to, const char *word, unsigned n, unsigned mark)
{
    for (unsigned i = 0; i < n; i++)
        stream_put(to, (unsigned char)word[i] | mark);
    stream_put(to, '\n' | mark);
}
