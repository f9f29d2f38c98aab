/* Window underflow, one thread in the registers: the window below is loaded where it was, and the
 * one below that becomes the reserved one. */
#include "window.h"
    .section .text.trap, "ax"
    .global underflow
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
