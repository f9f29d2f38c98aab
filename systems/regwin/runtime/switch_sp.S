/* Context switch, windows shared, a private reserved window for each thread. Stack pointer and
 * return address of a suspended thread stay in its reserved window. */
#include "window.h"
    .section .text.switch, "ax"
    .global thr_block, thr_block_flush, thr_leave, thr_to, thr_to_left
thr_block:
    rd %psr, %o0
    rd %wim, %o2
    mov 1, %o3
    sll %o3, %o0, %o3
    subcc %o2, %o3, %o4     /* 1 from here down to the lowest window, */
    subx %o4, 0, %o4        /* around the end */
    orn %o2, %o4, %o1       /* the windows above are given up */
    std %o0, [%g7 + TCB_PSR]
    mov %g5, %g7
    ldd [%g7 + TCB_PSR], %g2
    tst %g2
    be absent
thr_to:
    ld [%g7 + TCB_NEXT], %g5
resident:
    wr %g3, %wim
    wr %g2, %psr
    nop
    nop
    nop
    retl
    nop

absent:                     /* above the reserved window of the suspended thread */
    wr %g0, %wim
    nop
    nop
    nop
    save
    CLEAR_ABOVE(newest, %g7)
    CLEAR_ABOVE(reserve, %g0)
    restore

#define LEFT_RESIDENT st %g0, [%g6 + %g4]; ba resident; nop
#include "switch_sharing.h"
