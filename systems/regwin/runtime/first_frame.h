/* How a thread begins, on SPARC: included by threads.c. */
struct windows window_owner __attribute__((aligned(8)));

/* The window that thr_entry runs in, as if it had been stored. */
static BOOT void first_frame(struct thr *t, unsigned *stack, unsigned bytes, void (*entry)(void *), void *argument)
{
    unsigned *frame = stack + bytes / 4 - 48;
    THR_LOOP(24, for (unsigned i = 0; i < 24; i++))
        frame[i] = 0;
    frame[0] = (unsigned)entry;    /* %l0 */
    frame[8] = (unsigned)argument; /* %i0 */
    frame[14] = (unsigned)frame;   /* %fp */
    t->stack = stack;
    t->psr = 0;
    t->sp = (unsigned)frame;
    t->pc = (unsigned)thr_entry - 8;
#ifdef SCHEME_ADAPTIVE
    t->gain = GAIN_FIRST;
#endif
    stack[0] = THR_GUARD;
}
