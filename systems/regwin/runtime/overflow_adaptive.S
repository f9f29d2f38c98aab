/* Window overflow, windows shared, adaptive: as overflow_sharing.S, but a thread that has all windows is
 * alone from then on, and a thread that loses a window is refused for a while. */
#include "window.h"
#include "adaptive.h"
    .section .text.trap, "ax"
    .global overflow
#include "overflow_begin.h"
overflow_own:                   /* the thread has all windows */
    ALONE(own, %l3, %l4)
    st %g0, [%g7 + TCB_PSR]
    srl %l5, 1, %g2
    SHIFT_LAST(sll, %l5, %g3)
    save
    wr %g2, %g3, %wim           /* its oldest window is the reserved one */
    SPILL(%sp)
    HANDLERS(trap_table_lone, %g2)
    restore
    wr %l0, %psr
    nop
    jmp %l1
    rett %l2

overflow_other:
    wr %g0, %wim
    xor %l3, %l5, %l3
    CREDIT_COUNTS
    nop
    save
    rd %psr, %g2
    SPILL(%sp)
    ld [%g3 + TCB_PSR], %l2
    LOST(overflow, %l2, %g3, %l0, %l1)
    xor %l2, %g2, %l0
    andcc %l0, 31, %g0
    be overflow_last
    and %g2, 31, %l2
overflow_more:
    sll %l2, 2, %l2
    st %g3, [%g6 + %l2]
    ld [%g3 + TCB_WIM], %l0
    mov 1, %l1
    sll %l1, %g2, %l1
    or %l0, %l1, %l0
    st %l0, [%g3 + TCB_WIM]
overflow_stored:
    restore
    wr %l3, %wim                /* no mask forbids the interrupted window */
    wr %l0, %psr
    jmp %l1
    rett %l2

overflow_last:
    std %o6, [%g3 + TCB_SP]
    st %g0, [%g3 + TCB_PSR]
    ld [%g6 + OWNER_OTHERS], %l2
    sub %l2, 1, %l2
    ba overflow_stored
    st %l2, [%g6 + OWNER_OTHERS]
