/* Windows to memory, and long jumps: a return loads the frame that is gone back to. */
#include "machine.h"
    .section .text.app, "ax"
    .global thr_flush, thr_setjmp, thr_longjmp
    .p2align 2
thr_flush:
    entry a1, 32
    LOCK(a2)
    SPILL_OTHERS
    UNLOCK(a2)
    retw
    .p2align 2
thr_setjmp:                     /* without a frame: a10 is the argument, and the result */
    s32i a1, a10, 0
    s32i a8, a10, 4
    movi a10, 0
    RETURN
    .p2align 2
thr_longjmp:
    entry a1, 32
    LOCK(a4)
    SPILL_OTHERS
    UNLOCK(a4)
    l32i a4, a2, 0
    or a5, a1, a1
longjmp_next:                   /* below its stack pointer a frame keeps a0 to a3 of its caller */
    l32e a6, a5, -12
    beq a6, a4, longjmp_found
    or a5, a6, a6
    j longjmp_next
longjmp_found:
    or a1, a5, a5
    l32i a0, a2, 4
    or a2, a3, a3
    retw
