/* Interrupts. The interrupted thread keeps everything: what no call keeps goes below its stack pointer, and then a frame on the
 * stack of interrupts is made by a save like any other, so the scheme's own overflow handler makes room. The way back is a
 * restore like any other; in between another thread may have run, if no handler was interrupted. */
#include "window.h"
#define KEPT 64                 /* bytes below the interrupted stack pointer */
#define KEEP_PSR 0              /* and the pc */
#define KEEP_NPC 8              /* and %y */
#define KEEP_INS 16
#define KEEP_I7 40
#define KEEP_G1 44
#define LOCK_LAST 8              /* bytes from irq_lock to where it writes %psr */

    .section .text.trap, "ax"
    .global interrupt
interrupt:                      /* %l0: state, %l1 and %l2: where to go on, %l3: level */
    set irq_lock, %l4
    sub %l1, %l4, %l5
    cmp %l5, LOCK_LAST          /* between reading and writing %psr: */
    bgu interrupt_keeps
    nop
    mov %l4, %l1                /* it begins anew, for the window may be another one by then */
    add %l4, 4, %l2
interrupt_keeps:
    CHECK_ROOM(%fp, KEPT, %l4, %l5)
    nop
    rd %y, %l4
#ifdef FPU
    sethi %hi(PSR_EF), %l5      /* it may have lost it when it goes on; if not, it traps once more */
    andn %l0, %l5, %l0
#endif
    std %l0, [%fp - KEPT + KEEP_PSR]
    st %l2, [%fp - KEPT + KEEP_NPC]
    st %l4, [%fp - KEPT + KEEP_NPC + 4]
    std %i0, [%fp - KEPT + KEEP_INS]
    std %i2, [%fp - KEPT + KEEP_INS + 8]
    std %i4, [%fp - KEPT + KEEP_INS + 16]
    st %i7, [%fp - KEPT + KEEP_I7]
    st %g1, [%fp - KEPT + KEEP_G1]
    sll %l3, 8, %g3
    restore                     /* the interrupted window is valid */
    mov %g3, %o0
    rd %psr, %g2
    or %g2, 0xf00, %g2          /* no interrupts, */
#ifdef FPU
    sethi %hi(PSR_EF), %g3      /* no floating point, */
    andn %g2, %g3, %g2
#endif
    wr %g2, %psr
    nop
    nop
    nop
    wr %g2, 0x20, %psr          /* but traps */
    set irq_state, %o1
    ld [%o1], %o2
    tst %o2
    bne interrupt_nests
    sub %sp, KEPT, %o3
    set irq_stack_end, %o3
interrupt_nests:
    add %o2, 1, %o4
    st %o4, [%o1]
    save %o3, -96, %sp          /* an overflow keeps the out registers */
    set irq_stack, %l0
    ld [%g7 + TCB_STACK], %l1   /* what stack pointers are compared with */
    st %l0, [%g7 + TCB_STACK]
    call irq_unlock             /* the level of the interrupt */
    mov %i0, %o0
    call irq_dispatch
    srl %i0, 8, %o0
    call irq_lock
    nop
    st %l1, [%g7 + TCB_STACK]
    st %i2, [%i1]
    restore
    set irq_state, %o1
    ldd [%o1], %o2
    tst %o2
    bne interrupt_ends          /* it was a handler */
    tst %o3
    be interrupt_ends
    nop
    save %sp, -96 - KEPT, %sp
    call irq_reschedule
    nop
    restore
interrupt_ends:
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
    ldd [%fp - KEPT + KEEP_PSR], %l0
    ldd [%fp - KEPT + KEEP_NPC], %l2
    ldd [%fp - KEPT + KEEP_INS], %i0
    ldd [%fp - KEPT + KEEP_INS + 8], %i2
    ldd [%fp - KEPT + KEEP_INS + 16], %i4
    ld [%fp - KEPT + KEEP_I7], %i7
    ld [%fp - KEPT + KEEP_G1], %g1
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

/* No interrupt lets another thread run between the first and the third instruction: interrupt begins them anew. */
    .section .text.app, "ax"
    .global irq_lock, irq_unlock
irq_lock:
    rd %psr, %o1
    or %o1, 0xf00, %o2
    wr %o2, %psr
    nop
    nop
    retl
    and %o1, 0xf00, %o0
irq_unlock:                     /* %o0: what irq_lock returned; interrupts are masked */
    rd %psr, %o1
    andn %o1, 0xf00, %o1
    wr %o1, %o0, %psr
    nop
    retl
    nop

    .section .bss
    .align 8
irq_stack: .skip THR_IRQ_STACK
irq_stack_end:
