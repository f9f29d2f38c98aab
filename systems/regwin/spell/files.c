/* T4 to T7: files that are already in memory, four bytes a call; T5: the output. */
#include "spell.h"
#include "inputs.h"

char output_text[OUTPUT_BYTES];
unsigned output_bytes;

static void send(struct stream *to, const unsigned char *bytes, unsigned n)
{
    for (unsigned at = 0; at < n; at += 4)
        stream_write(to, bytes + at, n - at < 4 ? n - at : 4);
    stream_close(to);
}

void input(void *unused)
{
    (void)unused;
    send(&streams[S1], INPUT_TEXT, INPUTS->input_bytes);
}

void dict1(void *unused)
{
    (void)unused;
    send(&streams[S5], INPUT_STOP, DICTIONARY_BYTES);
}

void dict2(void *unused)
{
    (void)unused;
    send(&streams[S6], INPUT_WORDS, DICTIONARY_BYTES);
}

/* T2 marks its bytes: a line of each writer is collected apart. */
void output(void *unused)
{
    unsigned char bytes[4], lines[2][WORD_MAX + 1];
    unsigned n, n_line[2] = {0, 0};
    (void)unused;
    while ((n = stream_read(&streams[S4], bytes, 4)) > 0) {
        for (unsigned i = 0; i < n; i++) {
            unsigned writer = bytes[i] >> 7, c = bytes[i] & 127;
            lines[writer][n_line[writer]++] = (unsigned char)c;
            if (c != '\n' || output_bytes + n_line[writer] >= OUTPUT_BYTES)
                continue;
            for (unsigned k = 0; k < n_line[writer]; k++)
                output_text[output_bytes++] = (char)lines[writer][k];
            n_line[writer] = 0;
        }
    }
}
