/* Window underflow of a thread that is alone, adaptive: as underflow_ns.S. The first restore goes to the window
 * that the trapped one was run in, which neither mask forbids, so it need not wait for the new mask. */
#include "window.h"
    .section .text.trap, "ax"
    .global lone_underflow
lone_underflow:                 /* %g2 ^ %g3: the window mask, one window further down */
    wr %g2, %g3, %wim
    restore
    nop
    nop
    restore
    FILL(%sp)
    save
    save
    jmp %l1
    rett %l2
