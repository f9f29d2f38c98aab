/* Context switch for code compiled without windows: sixteen registers to memory, sixteen back. */
#include "window.h"
    .section .text.switch, "ax"
    .global SWITCH_LEAVE, SWITCH_FLUSH, thr_leave, thr_to
thr_leave:
    ba take_next
    nop

SWITCH_LEAVE:
SWITCH_FLUSH:
    CHECK_ROOM(%sp, 64, %o1, %o0)
    add %sp, -64, %sp       /* a flat frame has no store area of its own */
    SPILL(%sp)
    std %o6, [%g7 + TCB_SP]
take_next:
    mov %g5, %g7
    ldd [%g7 + TCB_SP], %o6
thr_to:
    ld [%g7 + TCB_NEXT], %g5
    FILL(%sp)
    retl
    add %sp, 64, %sp
