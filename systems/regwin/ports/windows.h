/* Windows of several threads in the register file, for an RTOS that has threads, stacks and an interrupt entry of its own: what the
 * handlers, the switch and the interrupt entries share. The scheme is `sp`, each thread with
 * windows has a reserved window above its newest one; but a thread leaves its windows only where
 * sharing pays (windows.S).
 *
 * Unlike the runtime of regwin, nothing is taken from the compiler or the RTOS: all globals are
 * kept, all eight out registers come back from an underflow, and frames open and close anywhere in
 * a function.
 *
 * The includer says
 *   RW_NWIN          the number of windows, 4 to 32
 *   RW_L0            where a thread's record has %l0; %l1 to %l7, %i0 to %i7, %o6, %o7 follow
 *   RW_PSR           where it has the state register; of a thread with windows bit 14 is set there,
 *   and the window mask is in
 *                    the place of %l0
 *
 * As long as no other thread has windows the mask has one bit, as the RTOS itself has it: below the
 * running thread's lowest window. It has all others, and overflow and underflow are as the RTOS'
 * own. Else the mask has a 0 for each window of the running thread, and rw_owner says whose windows
 * lie where.
 *
 * While a thread is suspended with windows, its record has stack pointer, return address and state
 * register as the RTOS would have put them there, and the locals and ins of its newest frame are in
 * the register file. Without windows the record is in every word what the RTOS's own switch makes.
 *
 * Writes of %psr and %wim may take effect up to three instructions late: nothing that looks at what
 * they change comes sooner.
 */
#ifndef RW_WINDOWS_H
#define RW_WINDOWS_H

#if defined(__FIX_LEON3FT_B2BST) || defined(__FIX_LEON3FT_TN0018)
#error "regwin: this code has no workarounds for the errata of LEON3FT (GRLIB-TN-0009, GRLIB-TN-0018): not for GR712RC, UT699, UT700"
#endif

#define RW_WIM RW_L0
#define RW_O6 (RW_L0 + 64)
#define RW_RESIDENT 0x4000

/* Behind the 32 owners. */
#define RW_RUNNING 128
#define RW_KEPT 136
#define RW_CREDIT 160
#define RW_PAUSE 164
#define RW_PAUSED 168
#define RW_OTHERS 172

/* What sharing has brought, as -2^d: a switch to a thread that still has windows takes one from d, a lost window adds two; d is
 * 0 to 30, and from 28 on sharing does not pay. */
#define RW_CREDIT_FAIR -0x400000
#define RW_CREDIT_POOR -0x10000000
#define RW_PAUSE_MAX 1023

/* The store area of a window is the 64 bytes at its stack pointer. */
#define RW_STORE(at, by) \
    std %l0, [at + by]; std %l2, [at + by + 8]; std %l4, [at + by + 16]; std %l6, [at + by + 24]; \
    std %i0, [at + by + 32]; std %i2, [at + by + 40]; std %i4, [at + by + 48]; std %i6, [at + by + 56]
#define RW_LOAD(at, by) \
    ldd [at + by], %l0; ldd [at + by + 8], %l2; ldd [at + by + 16], %l4; ldd [at + by + 24], %l6; \
    ldd [at + by + 32], %i0; ldd [at + by + 40], %i2; ldd [at + by + 48], %i4; ldd [at + by + 56], %i6

/* The thread of this record has no window any more. */
#define RW_FORGET_WINDOWS(record, a, b) \
    ld [record + RW_PSR], a; \
    sethi %hi(RW_RESIDENT), b; \
    andn a, b, a; \
    st a, [record + RW_PSR]

/* A thread that is not running lost a window. */
#define RW_LOST(name, base, t, u) \
    ld [base + RW_CREDIT], t; \
    sethi %hi(RW_CREDIT_POOR), u; \
    cmp t, u; \
    bg,a name##_counted; \
    sll t, 2, t; \
name##_counted: \
    st t, [base + RW_CREDIT]

/* The current window is the lowest of suspended thread `record`, a global; it is stored, in the record if it is the newest too.
 * `state` and `a` are two more globals; the locals are free afterwards. */
#define RW_STORE_LOWEST(name, record, state, a) \
    rd %psr, state; \
    ld [record + RW_PSR], a; \
    xor a, state, a; \
    andcc a, 31, %g0; \
    be name##_last; \
    nop; \
name##_more: \
    RW_STORE(%sp, 0); \
    set rw_owner, %l0; \
    and state, 31, a; \
    sll a, 2, a; \
    st record, [%l0 + a]; \
    mov 1, %l1; \
    sll %l1, state, %l1; \
    ld [record + RW_WIM], %l2; \
    or %l2, %l1, %l2; \
    ba name##_stored; \
    st %l2, [record + RW_WIM]; \
name##_last: \
    RW_STORE(record, RW_L0); \
    RW_FORGET_WINDOWS(record, %l0, %l1); \
    set rw_owner, %l0; \
    ld [%l0 + RW_OTHERS], %l1; \
    sub %l1, 1, %l1; \
    st %l1, [%l0 + RW_OTHERS]; \
name##_stored: \
    RW_LOST(name, %l0, %l1, %l2);

/* In the window of a trap, with %psr in %l0, whose bit in the mask is set: the window becomes the running thread's, and the one above
 * its reserved one. Uses %l3 to %l7, keeps all globals, ends with the new mask just written. */
#define RW_MAKE_ROOM(name) \
    rd %wim, %l3; \
    sub %l3, 1, %l4; \
    andcc %l3, %l4, %g0; \
    be name##_alone; \
    mov 1, %l5; \
    sll %l5, %l0, %l5; \
    set rw_owner, %l6; \
    and %l0, 31, %l4; \
    sll %l4, 2, %l4; \
    ld [%l6 + %l4], %l7; \
    tst %l7; \
    be name##_free; \
    xor %l3, %l5, %l3; \
name##_other:                   /* %l7: the thread whose lowest window lies above */ \
    st %g0, [%l6 + %l4]; \
    wr %g0, %wim; \
    mov %g1, %l4; \
    mov %g2, %l5; \
    mov %g3, %l6; \
    mov %l7, %g1; \
    save; \
    RW_STORE_LOWEST(name, %g1, %g2, %g3) \
    restore; \
    mov %l4, %g1; \
    mov %l5, %g2; \
    mov %l6, %g3; \
name##_free: \
    sub %l3, 1, %l4; \
    andcc %l3, %l4, %g0; \
    bne name##_made; \
    wr %l3, %wim; \
name##_all:                     /* it has all windows now: the one above is not looked up any more */ \
    and %l0, 31, %l4; \
    subcc %l4, 1, %l4; \
    bneg,a name##_clears; \
    mov RW_NWIN - 1, %l4; \
name##_clears: \
    set rw_owner, %l6; \
    sll %l4, 2, %l4; \
    ba name##_made; \
    st %g0, [%l6 + %l4]; \
name##_alone:                   /* it has all windows: its oldest goes, and is the reserved one */ \
    srl %l3, 1, %l4; \
    sll %l3, RW_NWIN - 1, %l3; \
    mov %g1, %l5; \
    or %l3, %l4, %g1; \
    save; \
    wr %g1, %wim; \
    RW_STORE(%sp, 0); \
    restore; \
    mov %l5, %g1; \
name##_made:

/* From a window to the one above, which is stored first if it is the lowest of a suspended thread; `owner` owns it then.
 * %g2: rw_owner; uses %g3 to %g5. */
#define RW_CLEAR_ABOVE(name, owner) \
    rd %psr, %g3; \
    and %g3, 31, %g3; \
    sll %g3, 2, %g3; \
    ld [%g2 + %g3], %g4; \
    st owner, [%g2 + %g3]; \
    tst %g4; \
    be name##_clear; \
    save; \
    RW_STORE_LOWEST(name, %g4, %g3, %g5) \
name##_clear:

/* An interrupt, in the window of its trap (%l0: state, %l3: what it is): if that is the reserved window, there is another one then. */
#define RW_INTERRUPT_ENTERS(name) \
    rd %wim, %l4; \
    srl %l4, %l0, %l4; \
    andcc %l4, 1, %g0; \
    be name##_keeps; \
    sethi %hi(rw_owner), %l6; \
    or %l6, %lo(rw_owner), %l6; \
    st %l3, [%l6 + RW_KEPT]; \
    RW_MAKE_ROOM(name) \
    set rw_owner, %l6; \
    ld [%l6 + RW_KEPT], %l3; \
name##_keeps:

/* Its end: down from its frame like any other restore, whatever has become of the windows, then, traps off (`et`), to the window that any trap
 * would use. %g3: the mask, which is 0 meanwhile. */
#define RW_INTERRUPT_LEAVES(et) \
    restore; \
    rd %psr, %g2; \
    wr %g2, et, %psr; \
    nop; nop; nop; \
    rd %wim, %g3; \
    wr %g0, %wim; \
    nop; nop; nop; \
    save
#endif
