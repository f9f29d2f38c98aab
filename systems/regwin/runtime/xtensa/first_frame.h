/* How a thread begins, on Xtensa: included by threads.c. */
#include "machine.h"

/* The frame that thr_entry runs in, as if it had been stored. The frame above has its place for four registers of this one. */
static BOOT void first_frame(struct thr *t, unsigned *stack, unsigned bytes, void (*entry)(void *), void *argument)
{
    unsigned *frame = stack + bytes / 4 - 16;
    for (unsigned i = 0; i < 8; i++)
        t->frame[i] = 0;
    t->frame[1] = (unsigned)frame;
    t->frame[2] = (unsigned)entry;
    t->frame[3] = (unsigned)argument;
    frame[-3] = (unsigned)(frame + 8); /* the stack pointer of the caller that there is not */
    t->stack = stack;
    t->place = -1;
    t->pc = CALLED_BY_8(thr_entry);
    t->ps = THREAD_PS;
    stack[0] = THR_GUARD;
}
