/* Flush trap (ta 3), windows shared: all windows of the thread but the current one go to memory, as
 * longjmp and debuggers expect. */
#include "window.h"
    .section .text.trap, "ax"
    .global flush_trap
flush_trap:                     /* %l0: state, %l3: window mask */
    CHECK_STACK(%fp, %l4)
    wr %g0, %wim
    mov %l3, %g2
    st %l0, [%g6 + OWNER_SCRATCH]
    mov %g4, %l5
    restore
flush_trap_next:                /* all windows but the current one, and one of another ends it */
    RUNS_AT_MOST(1, -1)
    restore
    rd %psr, %g3
    srl %g2, %g3, %g4
    andcc %g4, 1, %g0           /* not the thread's */
    bne flush_trap_stored
    mov 1, %g4
flush_trap_window:
    sll %g4, %g3, %g4
    or %g2, %g4, %g2
    SPILL(%sp)
    ba flush_trap_next
    nop
flush_trap_stored:              /* below what was the lowest window */
    and %g3, 31, %g4
    sll %g4, 2, %g4
    st %g0, [%g6 + %g4]
    ld [%g6 + OWNER_SCRATCH], %g4
    wr %g4, %psr
    nop
    nop
    nop
    restore
    restore                     /* the current window is the lowest now */
    rd %psr, %g3
    and %g3, 31, %g3
    sll %g3, 2, %g3
    st %g7, [%g6 + %g3]
    save
    save
    wr %g2, %wim
    mov %l5, %g4
    nop
    jmp %l2
    rett %l2 + 4
