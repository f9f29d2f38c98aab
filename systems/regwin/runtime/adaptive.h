/* What the assembly of the adaptive scheme shares: what it remembers of sharing, and pieces of its switch and its handlers. */
#define REFUSALS_MAX 63
#define REFUSALS_RICH 3
/* The account of sharing, in cycles, at most -1: what its switches and traps would have cost without it, less what they cost. A
 * switch to a thread that still has windows earns what that thread gains; the others cost about what they cost without sharing,
 * but for what they store. Below CREDIT_POOR sharing does not pay. A trial may lose what lies between; above CREDIT_RICH it has
 * paid, and the next pause is the shortest again. */
#define CREDIT_RICH -2000
#define CREDIT_POOR -4000
#define CREDIT_TRIAL -3600
#define CREDIT_LEAST -4096
/* What a thread gains that keeps its windows: so many cycles for each that a switch would store, load and trap for. */
#define GAIN 80
/* The detour of a switch that stores the old thread's windows, a window that an overflow takes, and what a switch takes from a
 * neighbour. */
#define COST_STORED 72
#define COST_LOST 144
#define COST_EVICTED 224
#define PAUSE_MAX 4095
/* Before a trial so many switches look how many windows a thread uses. */
#define SAMPLES 3
/* A neighbour with windows further away keeps some of them, while sharing pays. */
#define NEAR 6
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
    srl psr, 28, b; \
name##_rich: \
    sub %g4, COST_LOST, %g4; \
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

/* The running thread is alone again, with credit %g4; %g4 is its pause then. If sharing did not pay that is four times as long as the
 * last, and a trial follows; if it did it is as long as the last, which is 0 once a switch that stored found that sharing has paid. */
#define ALONE(name, one, other) \
    mov -1, one; \
    st one, [%g6 + OWNER_OTHERS]; \
    ld [%g6 + OWNER_PAUSED], one; \
    CREDIT_COUNTS; \
    bge name##_pause; \
    nop; \
name##_unpaid: \
    sll one, 2, one; \
    or one, 3, one; \
    and one, PAUSE_MAX, one; \
    mov CREDIT_TRIAL, %g4; \
name##_pause: \
    st %g4, [%g6 + OWNER_CREDIT]; \
    st one, [%g6 + OWNER_PAUSED]; \
    and one, SAMPLES, other; \
    st other, [%g6 + OWNER_SAMPLES]; \
    sub one, other, %g4

/* Thread %g7 stored windows worth %g1 since it was loaded: the mean follows by a fourth. */
#define GAINS(mean) \
    ld [%g7 + TCB_GAIN], mean; \
    sub %g1, mean, %g1; \
    sra %g1, 2, %g1; \
    add mean, %g1, mean; \
    st mean, [%g7 + TCB_GAIN]

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

/* The same, and %g1 is what that many windows are worth. */
#define STORES_COUNTED(next, again) \
    clr %g1; \
next: \
    STORES_WINDOW; \
    SPILL(%sp); \
    add %g1, GAIN, %g1; \
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
