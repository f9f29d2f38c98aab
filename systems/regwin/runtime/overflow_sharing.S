/* Window overflow, windows shared: the reserved window becomes the thread's newest, the one above
 * the new reserved one. If that one holds the lowest window of a thread, the running one included,
 * it is stored first. */
#include "window.h"
    .section .text.trap, "ax"
    .global overflow
#include "overflow_begin.h"
overflow_own:                   /* the thread has all windows: its oldest goes */
    srl %l5, 1, %g2
    SHIFT_LAST(sll, %l5, %g4)
    or %g2, %g4, %g2
    xor %l3, %l5, %g3
    save
    wr %g2, %g3, %wim
    SPILL(%sp)
    rd %psr, %l0
    and %l0, 31, %l0
    sll %l0, 2, %l0
    st %g7, [%g6 + %l0]
    restore
    wr %l0, %psr
    jmp %l1
    rett %l2

overflow_other:
    wr %g0, %wim
    xor %l3, %l5, %l3
    nop
    nop
    save
    SPILL_OTHER(overflow_other)
    restore
    wr %l3, %wim
    wr %l0, %psr
    jmp %l1
    rett %l2
