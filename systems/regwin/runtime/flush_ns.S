/* Flush trap (ta 3), one thread in the registers: all its windows but the current one go to memory, as
 * longjmp and debuggers expect. */
#include "window.h"
    .section .text.trap, "ax"
    .global LONE(flush_trap)
LONE(flush_trap):                     /* %l0: state, %l3: window mask */
    CHECK_STACK(%fp, %l4)
    wr %g0, %wim
    mov %l3, %g2
    st %l0, [%g6 + OWNER_SCRATCH]
    nop
    restore
LONE(flush_trap_next):        /* all windows but the current one, and the reserved one ends it */
    RUNS_AT_MOST(1, -1)
    restore
    rd %psr, %g3
    srl %g2, %g3, %g3
    andcc %g3, 1, %g0           /* the reserved window */
    bne LONE(flush_trap_stored)
    nop
LONE(flush_trap_window):
    SPILL(%sp)
    ba LONE(flush_trap_next)
    nop
LONE(flush_trap_stored):
    ld [%g6 + OWNER_SCRATCH], %g3
    wr %g3, %psr
    nop
    nop
    nop
    restore
    restore                     /* the window below the current one is reserved now */
    rd %psr, %g3
    mov 1, %g2
    sll %g2, %g3, %g2
    save
    save
    wr %g2, %wim
    nop
    nop
    jmp %l2
    rett %l2 + 4
