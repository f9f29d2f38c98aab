/* Threads that take turns, THREADS of them, each DEPTH calls deep: what a switch costs. With BETWEEN they call so deep and return
 * between two turns. Marks are where counting begins and ends. */
#include "mock.h"

void mark_begin(void);
void mark_end(void);
__attribute__((noinline)) void mark_begin(void)
{
    __asm__ volatile("");
}
__attribute__((noinline)) void mark_end(void)
{
    __asm__ volatile("");
}

static unsigned n_turns;

__attribute__((noinline)) static unsigned down(unsigned depth)
{
    unsigned below = 0;
    if (depth > 1) {
        below = down(depth - 1);
    } else {
#ifndef BETWEEN
        while (n_turns < TURNS) {
            if (++n_turns == 100)
                mark_begin();
            mock_yield();
        }
        if (n_turns++ == TURNS)
            mark_end();
#endif
    }
    __asm__ volatile("" : "+r"(below));
    return below + depth;
}

static void thread(unsigned slot)
{
    (void)slot;
#ifdef BETWEEN
    while (n_turns < TURNS) {
        if (++n_turns == 100)
            mark_begin();
        down(DEPTH);
        mock_yield();
    }
    if (n_turns++ == TURNS)
        mark_end();
#else
    down(DEPTH);
#endif
}

int program_interrupted(void)
{
    return 0;
}

void program_begins(void)
{
    for (unsigned slot = 0; slot < THREADS; slot++)
        mock_make(slot, thread);
}

void program_ends(void)
{
    mock_text("done\n");
    mock_stop();
}
