/* Preemption: at a timer interrupt the running thread yields, wherever it is.
 *
 * The interrupted thread keeps everything: what no call keeps goes below its stack pointer, and then its next window is
 * made by a save like any other, so the scheme's own overflow handler makes room. The way back is a restore
 * like any other; the thread may have other windows by then. Code of the runtime is not interrupted for this:
 * the timer comes again soon. */
#include "window.h"
#define KEPT 64                 /* bytes below the interrupted stack pointer */
#define SOON 3                  /* ticks */
#define TIMER 0x80000300
#define TIMER_VALUE 0x10
#define TIMER_RELOAD 0x14
#define TIMER_CONTROL 0x18      /* 1 enable, 2 again and again, 4 load, 8 interrupt */
#define INTERRUPTS_MASK 0x80000240

    .section .text.trap, "ax"
    .global preempt
preempt:                        /* %l0: state, %l1 and %l2: where to go on */
    set __preempt_start, %l3
    cmp %l1, %l3
    blu preempt_later
    set __app_end, %l4
    cmp %l1, %l4
    bgeu preempt_later
    nop
    CHECK_ROOM(%fp, KEPT, %l3, %l4)
    rd %y, %l3
#ifdef FPU
    sethi %hi(PSR_EF), %l4      /* it may have lost it when it goes on; if not, it traps once more */
    andn %l0, %l4, %l0
#endif
    std %l0, [%fp - KEPT]
    std %l2, [%fp - KEPT + 8]
    std %i0, [%fp - KEPT + 16]
    std %i2, [%fp - KEPT + 24]
    std %i4, [%fp - KEPT + 32]
    st %i7, [%fp - KEPT + 40]
    st %g1, [%fp - KEPT + 44]
    restore                     /* the interrupted window is valid */
    rd %psr, %g2
    or %g2, 0xf00, %g2          /* no interrupts, */
    wr %g2, %psr
    nop
    nop
    nop
    wr %g2, 0x20, %psr          /* but traps */
    nop
    nop
    nop
    save %sp, -96 - KEPT, %sp
    call thr_yield
    nop
    restore
    rd %psr, %g2
    wr %g2, 0x20, %psr          /* no traps */
    nop
    nop
    nop
    rd %wim, %g3
    wr %g0, %wim
    nop
    nop
    nop
    save                        /* to the window that any trap would use */
    ldd [%fp - KEPT], %l0
    ldd [%fp - KEPT + 8], %l2
    ldd [%fp - KEPT + 16], %i0
    ldd [%fp - KEPT + 24], %i2
    ldd [%fp - KEPT + 32], %i4
    ld [%fp - KEPT + 40], %i7
    ld [%fp - KEPT + 44], %g1
    wr %l3, %y
    wr %g3, %wim
    rd %psr, %g2
    and %g2, 31, %g2
    andn %l0, 31, %l0
    wr %l0, %g2, %psr
    nop
    nop
    nop
    jmp %l1
    rett %l2

preempt_later:
    set TIMER, %l3
    mov SOON, %l4
    st %l4, [%l3 + TIMER_VALUE]
    wr %l0, %psr
    nop
    nop
    nop
    jmp %l1
    rett %l2

/* The switches as they are called: without interrupts. The caller's return address goes to the thread's record. */
#define SWITCH(name, switch) \
name: \
    st %o7, [%g7 + TCB_RETURN]; \
    MASK(%o0); \
    call switch; \
    nop; \
    UNMASK(%o0); \
    ld [%g7 + TCB_RETURN], %o7; \
    retl; \
    nop
    .section .text.app, "ax"
    .global thr_block_leave, thr_block_flush
SWITCH(thr_block_leave, switch_leave)
SWITCH(thr_block_flush, switch_flush)

    .section .text.boot, "ax"
    .global thr_preempt
thr_preempt:                    /* %o0: ticks; 0: never */
    set TIMER, %o1
    tst %o0
    be preempt_off
    sub %o0, 1, %o0
    st %o0, [%o1 + TIMER_RELOAD]
    set INTERRUPTS_MASK, %o2
    ld [%o2], %o3
    or %o3, 1 << THR_TIMER_IRQ, %o3
    st %o3, [%o2]
    mov 15, %o3
    retl
    st %o3, [%o1 + TIMER_CONTROL]
preempt_off:
    retl
    st %g0, [%o1 + TIMER_CONTROL]
