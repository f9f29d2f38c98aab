/* Window overflow, one thread in the registers: the window above the reserved one is the oldest;
 * it is stored and becomes the reserved one. */
#include "window.h"
    .section .text.trap, "ax"
    .global LONE(overflow)
#ifndef WINDOWS_A_TRAP
LONE(overflow):                       /* %g2 ^ %g3: the window mask, one window further up */
    KEEP_FLAGS(%l0)
    CHECK_STACK(%fp, %l3)
    save
    wr %g2, %g3, %wim
    SPILL(%sp)
    restore
    GIVE_FLAGS(%l0)
    jmp %l1
    rett %l2
#else
overflow:                       /* the same with more windows: the last one stored becomes the reserved one */
    KEEP_FLAGS(%l0)
    CHECK_STACK(%fp, %l3)
    or %g2, %g3, %g2
    wr %g0, %wim
    nop
    nop
    nop
    save
    SPILL(%sp)
    .rept WINDOWS_A_TRAP - 1
    save
    SPILL(%sp)
    ABOVE(%g2, %g3)
    .endr
    wr %g2, %wim
    nop
    nop
    nop
    .rept WINDOWS_A_TRAP
    restore
    .endr
    GIVE_FLAGS(%l0)
    jmp %l1
    rett %l2
#endif
