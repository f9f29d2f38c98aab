/* What the assembly files share: where things are, and a window's way to memory and back.
 *
 * %g2-%g4  scratch of handlers and switches; compiled code never touches %g2-%g7. In the adaptive
 * scheme
 *          %g4 is the account of sharing, below 0, while windows are shared, and the rest of the pause, 0 or more,
 *          while one thread is alone
 * %g5      the first thread of the ready queue, thr_idle if there is none
 * %g6      window_owner: the word for window q is the thread whose lowest resident window is q-1
 * %g7      the running thread
 *
 * Writes of %psr and %wim may take effect up to three instructions late: nothing that looks at
 * what they change comes sooner. The symbols inside the routines name their basic blocks; the
 * simulator counts these.
 */
/* The fields of a record (TCB_...) and of the words after the owners (OWNER_...) are symbols that offsets.c defines. A
 * suspended thread's state register is 0 if none of its windows is resident. */
#ifdef __ASSEMBLER__
#include "regwin_options.h"
#endif
#ifdef __ASSEMBLER__
/* schedule.c wraps the switch. With PREEMPT interrupts are masked: a trap enters the window above, which a switch may be about
 * to store. */
#if defined(PREEMPT) || defined(PRIORITIES)
#define SWITCH_LEAVE switch_leave
#define SWITCH_FLUSH switch_flush
#else
#define SWITCH_LEAVE thr_block_leave
#define SWITCH_FLUSH thr_block_flush
#endif

/* The frame at `sp` must lie above the lowest word of the running thread's stack: else the thread's stack is too small, and
 * stack_overflow says so, before a window is stored there. The next instruction is executed either
 * way. Handlers give the flags back. */
#ifdef STACK_UNCHECKED
#define KEEP_FLAGS(to)
#define GIVE_FLAGS(from)
#define CHECK_STACK(sp, scratch)
#define CHECK_ROOM(sp, bytes, at, scratch)
#else
#define KEEP_FLAGS(to) rd %psr, to;
#define GIVE_FLAGS(from) wr from, %psr;
#define CHECK_STACK(sp, scratch) \
    ld [%g7 + TCB_STACK], scratch; \
    cmp sp, scratch; \
    bleu stack_overflow;
/* The same for what is stored so many bytes below it. */
#define CHECK_ROOM(sp, bytes, at, scratch) \
    sub sp, bytes, at; \
    CHECK_STACK(at, scratch)
#endif

/* What is here is executed at most `windows` times the number of windows plus `more` times, from the beginning of the routine to its
 * end: what `regwin wcet` must know of a loop. Nothing of it is loaded. */
#define RUNS_AT_MOST(windows, more) RUNS_AT_MOST_ALL(windows, more, 0)
/* The same of all places with this number together. */
#define RUNS_AT_MOST_ALL(windows, more, number) \
    996: .pushsection .bounds; .word 996b, windows, more, number; .popsection
/* A window is stored: at most all but a reserved one. */
#define STORES_WINDOW RUNS_AT_MOST_ALL(1, -1, 1)

/* The store area of a window is the 64 bytes at its stack pointer. */
#define SPILL(sp) \
    std %l0, [sp + 0]; std %l2, [sp + 8]; std %l4, [sp + 16]; std %l6, [sp + 24]; \
    std %i0, [sp + 32]; std %i2, [sp + 40]; std %i4, [sp + 48]; std %i6, [sp + 56]
#define FILL(sp) \
    ldd [sp + 0], %l0; ldd [sp + 8], %l2; ldd [sp + 16], %l4; ldd [sp + 24], %l6; \
    ldd [sp + 32], %i0; ldd [sp + 40], %i2; ldd [sp + 48], %i4; ldd [sp + 56], %i6

/* The same, the last load apart: it fits after a jump. */
#define FILL_SOME(sp) \
    ldd [sp + 0], %l0; ldd [sp + 8], %l2; ldd [sp + 16], %l4; ldd [sp + 24], %l6; \
    ldd [sp + 32], %i0; ldd [sp + 40], %i2; ldd [sp + 48], %i4
#define FILL_REST(sp) ldd [sp + 56], %i6

/* Handlers for one thread in the registers: the adaptive scheme has them beside those that share. */
#ifdef SCHEME_ADAPTIVE
#define LONE(name) lone_##name
#else
#define LONE(name) name
#endif

/* FPU: a thread that is loaded begins without it; whose it was does not matter. Where the thread has windows its own state
 * register comes back instead, in which fpu.S has cleared the bit if it has lost it since. */
#ifdef FPU
#define PSR_EF 0x1000
#define DROP_FPU(name, state, bit) \
    rd %psr, state; \
    sethi %hi(PSR_EF), bit; \
    andcc state, bit, %g0; \
    be name##_kept; \
    nop; \
name##_drop: \
    wr state, bit, %psr; \
    nop; nop; nop; \
name##_kept:
#else
#define DROP_FPU(name, state, bit)
#endif

/* A shift by the number of windows less one; boot.S writes that number into the instruction. */
#define SHIFT_LAST(op, from, to) \
    997: op from, 0, to; .pushsection .rotations, "a"; .word 997b; .popsection

/* The bit of the window above the one whose bit this is. */
#define ABOVE(bit, scratch) \
    srl bit, 1, scratch; \
    SHIFT_LAST(sll, bit, bit); \
    or bit, scratch, bit

/* The bit of the window below. */
#define BELOW(bit, scratch) \
    sll bit, 1, scratch; \
    SHIFT_LAST(srl, bit, bit); \
    or bit, scratch, bit

/* Stores the lowest window of thread %g3, which is the current window, and takes it from the
 * thread. The thread is suspended. Uses %g2, %g4 and the window's locals. */
#ifdef SCHEME_SNP
/* The out registers of a newest frame may be gone: its stack pointer is in the thread. */
#define SPILL_OTHER(name) \
    rd %psr, %g2; \
    ld [%g3 + TCB_PSR], %g4; \
    xor %g4, %g2, %g4; \
    andcc %g4, 31, %g0; \
    be name##_last; \
    and %g2, 31, %g4; \
name##_more: \
    SPILL(%sp); \
    sll %g4, 2, %g4; \
    st %g3, [%g6 + %g4]; \
    ld [%g3 + TCB_WIM], %l0; \
    mov 1, %l1; \
    sll %l1, %g2, %l1; \
    or %l0, %l1, %l0; \
    ba name##_stored; \
    st %l0, [%g3 + TCB_WIM]; \
name##_last: \
    ld [%g3 + TCB_SP], %g4; \
    SPILL(%g4); \
    st %g0, [%g3 + TCB_PSR]; \
name##_stored:
#else
/* The out registers of a newest frame lie in the thread's reserved window, which goes too. */
#define SPILL_OTHER(name) \
    rd %psr, %g2; \
    ld [%g3 + TCB_PSR], %g4; \
    SPILL(%sp); \
    xor %g4, %g2, %g4; \
    andcc %g4, 31, %g0; \
    be name##_last; \
    and %g2, 31, %g4; \
name##_more: \
    sll %g4, 2, %g4; \
    st %g3, [%g6 + %g4]; \
    ld [%g3 + TCB_WIM], %l0; \
    mov 1, %l1; \
    sll %l1, %g2, %l1; \
    or %l0, %l1, %l0; \
    ba name##_stored; \
    st %l0, [%g3 + TCB_WIM]; \
name##_last: \
    std %o6, [%g3 + TCB_SP]; \
    st %g0, [%g3 + TCB_PSR]; \
name##_stored:
#endif

/* Goes to the window above after storing it if it belongs to a suspended thread; `owner` owns it then. */
#define CLEAR_ABOVE(name, owner) \
    rd %psr, %g2; \
    and %g2, 31, %g2; \
    sll %g2, 2, %g2; \
    ld [%g6 + %g2], %g3; \
    tst %g3; \
    be name##_free; \
    st owner, [%g6 + %g2]; \
name##_taken: \
    save; \
    SPILL_OTHER(name); \
    ba name##_clear; \
    nop; \
name##_free: \
    save; \
name##_clear:
#endif
