/* What the assembly of the adaptive scheme shares: what it remembers of sharing, and pieces of its switch and its handlers. */
#define REFUSALS_MAX 63
#define REFUSALS_RICH 3
/* What sharing has brought, at most -1: a switch to a thread that still has windows adds CREDIT_GAIN, a lost
 * window takes the more the fewer windows the thread had that began to share. Below CREDIT_POOR sharing does not pay. Whoever begins
 * to share after that may lose four switches' worth. */
#define CREDIT_GAIN 24
#define CREDIT_POOR -1024
#define CREDIT_TRIAL (CREDIT_POOR + 4 * CREDIT_GAIN)
#define CREDIT_LEAST (CREDIT_POOR - CREDIT_GAIN)
#define PAUSE_MAX 1023
/* Added to a word at each neighbour that is spared; it overflows at each 64th. */
#define SPARED_STEP 0x04000000

/* Does sharing pay? The flags say so, until LOST asks; where it does not, the carry is set. */
#define CREDIT_COUNTS cmp %g4, CREDIT_POOR

/* Thread `thread` lost a window; `psr` is its state register as it was left, whose upper four bits are 0 if it
 * was never suspended with its windows since. It is refused a while, not long as long as sharing
 * pays. */
#define LOST(name, psr, thread, a, b) \
    ld [thread + TCB_PEN], a; \
    bl name##_poor; \
    ld [%g6 + OWNER_LOSS], b; \
name##_rich: \
    sub %g4, b, %g4; \
    srl psr, 28, b; \
    tst b; \
    bne name##_useful; \
    add a, a, a; \
name##_useless: \
    or a, 1, a; \
    and a, REFUSALS_RICH, a; \
    st a, [thread + TCB_REFUSE]; \
    ba name##_lost; \
    st a, [thread + TCB_PEN]; \
name##_useful: \
    ba name##_lost; \
    st %g0, [thread + TCB_PEN]; \
name##_poor: \
    mov CREDIT_LEAST, %g4; \
    addx a, a, a; \
    and a, REFUSALS_MAX, a; \
    st a, [thread + TCB_REFUSE]; \
    st a, [thread + TCB_PEN]; \
name##_lost:

/* The running thread is alone again, with credit %g4. If sharing did not pay there is a pause, each time four times as long, and a
 * trial after it. */
#define ALONE(name, one) \
    mov -1, one; \
    st one, [%g6 + OWNER_OTHERS]; \
    ld [%g6 + OWNER_PAUSED], one; \
    CREDIT_COUNTS; \
    bge,a name##_pause; \
name##_paid: \
    clr one; \
name##_unpaid: \
    sll one, 2, one; \
    or one, 3, one; \
    and one, PAUSE_MAX, one; \
    mov CREDIT_TRIAL, %g4; \
name##_pause: \
    st %g4, [%g6 + OWNER_CREDIT]; \
    st one, [%g6 + OWNER_PAUSED]; \
    st one, [%g6 + OWNER_PAUSE]

/* The running thread is alone from here on, or shares. */
#define HANDLERS(table, scratch) \
    set table, scratch; \
    wr scratch, %tbr

/* In its newest window: all windows of the running thread are stored, down to the one whose bit is in %g2. Ends in the lowest. */
#define STORES_OWN(next, again) \
next: \
    STORES_WINDOW; \
    SPILL(%sp); \
    rd %psr, %g3; \
    srl %g2, %g3, %g3; \
    andcc %g3, 1, %g0; \
    be,a next; \
again: \
    restore

/* The frame of thread %g7 is loaded into this window, and the thread runs. `label` begins what every way to it counts. */
#define LOADED(label) \
    ldd [%g7 + TCB_SP], %o6; \
label: \
    ld [%g7 + TCB_NEXT], %g5; \
    FILL_SOME(%sp); \
    retl; \
    FILL_REST(%sp)
