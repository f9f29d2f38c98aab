/* The spell checker on the bare machine: streams and threads made, the words printed. */
#include "spell.h"
#include "inputs.h"
#include "kernel.h"

#define BUFFER_MAX 1024
#define STACK_WORDS 1024

struct stream streams[6];
static unsigned char buffers[6][BUFFER_MAX];
struct thr threads[7];
static unsigned stacks[7][STACK_WORDS] __attribute__((aligned(8)));

extern char output_text[];
extern unsigned output_bytes;

BOOT void machine_idle(void *unused)
{
    (void)unused;
    output_text[output_bytes] = 0;
    console_text(output_text);
    thr_report();
    machine_stop();
}

BOOT int main(void)
{
    static const char *const stream_names[6] = {"S1", "S2", "S3", "S4", "S5", "S6"};
    static const char *const names[7] = {"T1", "T2", "T3", "T4", "T5", "T6", "T7"};
    static void (*const entries[7])(void *) = {delatex, spell1, spell2, input, output, dict1, dict2};
    for (unsigned i = 0; i < 6; i++)
        stream_open(&streams[i], stream_names[i], buffers[i], i == S2 || i == S3 ? INPUTS->n : INPUTS->m, i == S4 ? 2 : 1);
    for (unsigned i = 0; i < 7; i++)
        thr_create(&threads[i], names[i], stacks[i], sizeof stacks[i], entries[i], 0);
    return 0;
}
