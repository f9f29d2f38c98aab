/* Context switch, one thread in the registers: all windows of the old thread are stored, the
 * newest of the new thread is loaded into the lowest of them, so the mask stays as it is. */
#include "window.h"
    .section .text.switch, "ax"
    .global SWITCH_LEAVE, SWITCH_FLUSH, thr_leave, thr_to
thr_leave:
    ba take_next
    nop

SWITCH_LEAVE:
SWITCH_FLUSH:
    CHECK_STACK(%sp, %o0)
    rd %wim, %o0
    srl %o0, 1, %o1
    SHIFT_LAST(sll, %o0, %o0)
    or %o0, %o1, %g2        /* bit w: window w is the thread's oldest */
    std %o6, [%g7 + TCB_SP]
block_next:
    STORES_WINDOW
    SPILL(%sp)
    rd %psr, %g3
    srl %g2, %g3, %g4
    andcc %g4, 1, %g0
    be,a block_next
block_again:
    restore
take_next:
    DROP_FPU(take_next, %g3, %g4)
    mov %g5, %g7
    ldd [%g7 + TCB_SP], %o6
thr_to:
    ld [%g7 + TCB_NEXT], %g5
    FILL(%sp)
    retl
    nop
