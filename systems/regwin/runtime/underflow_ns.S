/* Window underflow, one thread in the registers: the window below is loaded where it was, and the
 * one below that becomes the reserved one. */
#include "window.h"
    .section .text.trap, "ax"
    .global underflow
#ifndef WINDOWS_A_TRAP
underflow:                      /* %g2 ^ %g3: the window mask, one window further down */
    wr %g2, %g3, %wim
    nop
    nop
    nop
    restore
    restore
    FILL(%sp)
    save
    save
    jmp %l1
    rett %l2
#else
underflow:                      /* the same with more windows, as far as the thread has so many */
    or %g2, %g3, %g2
    rd %psr, %g4
    wr %g0, %wim
    nop
    nop
    nop
    restore
    restore
    FILL(%sp)
    .rept WINDOWS_A_TRAP - 1
    cmp %fp, %sp                /* its first frame */
    be underflow_loaded
    nop
    restore
    FILL(%sp)
    BELOW(%g2, %g3)
    .endr
underflow_loaded:
    wr %g2, %wim
    wr %g4, %psr
    nop
    nop
    nop
    jmp %l1
    rett %l2
#endif
