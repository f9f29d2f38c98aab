/* What the assembly of the adaptive scheme shares: what it remembers of sharing, and pieces of its switch and its handlers. */
#define REFUSALS_MAX 63
#define REFUSALS_RICH 3
/* What sharing has brought, as -2^d: a switch to a thread that still has windows takes one from d, a lost
 * window adds one; d is 0 to 30, and above 28 sharing does not pay. */
#define CREDIT_LEAST 0xc0000000
#define CREDIT_POOR 0xf0000000
#define PAUSE_MAX 1023

/* Does sharing pay? The flags say so, until LOST asks; where it does not, the carry is set. */
#define CREDIT_COUNTS(a) \
    sethi %hi(CREDIT_POOR), a; \
    cmp %g4, a

/* Thread `thread` lost a window; `psr` is its state register as it was left, whose upper four bits are 0 if it
 * was never suspended with its windows since. It is refused a while, not long as long as sharing
 * pays. */
#define LOST(name, psr, thread, a, b) \
    ld [thread + TCB_PEN], a; \
    bl name##_poor; \
    sll %g4, 1, %g4; \
name##_rich: \
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
    sethi %hi(CREDIT_LEAST), %g4; \
    addx a, a, a; \
    and a, REFUSALS_MAX, a; \
    st a, [thread + TCB_REFUSE]; \
    st a, [thread + TCB_PEN]; \
name##_lost:

/* The running thread is alone again, with credit %g4. If sharing did not pay there is a pause, each time twice as long. */
#define ALONE(name, one, two) \
    mov -1, one; \
    st one, [%g6 + OWNER_OTHERS]; \
    st %g4, [%g6 + OWNER_CREDIT]; \
    ld [%g6 + OWNER_PAUSED], one; \
    sethi %hi(CREDIT_POOR), two; \
    cmp %g4, two; \
    bge,a name##_pause; \
name##_paid: \
    clr one; \
name##_unpaid: \
    add one, one, one; \
    or one, 1, one; \
    and one, PAUSE_MAX, one; \
name##_pause: \
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
