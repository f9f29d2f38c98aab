/* Window overflow, one thread in the registers: the window above the reserved one is the oldest;
 * it is stored and becomes the reserved one. */
#include "window.h"
    .section .text.trap, "ax"
    .global LONE(overflow)
LONE(overflow):                       /* %g2 ^ %g3: the window mask, one window further up */
    save
    wr %g2, %g3, %wim
    SPILL(%sp)
    restore
    jmp %l1
    rett %l2
