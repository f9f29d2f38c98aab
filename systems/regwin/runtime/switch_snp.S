/* Context switch, windows shared, one reserved window: it moves above the new thread. Stack
 * pointer and return address of a suspended thread lie in its record. */
#include "window.h"
#include "switch_sharing.h"
    .section .text.switch, "ax"
    .global SWITCH_LEAVE, SWITCH_FLUSH, thr_leave, thr_to, thr_to_left
SWITCH_LEAVE:
    LEAVE_WINDOWS
    std %o6, [%g7 + TCB_SP]
    mov %g5, %g7
    ldd [%g7 + TCB_PSR], %g2
    tst %g2
    be absent
thr_to:
    ld [%g7 + TCB_NEXT], %g5
resident:
    and %g2, 31, %o0
    sll %o0, 2, %o0
    ld [%g6 + %o0], %o1
    tst %o1
    bne above_taken
    wr %g2, %psr
above_free:
    wr %g3, %wim
    nop
    nop
    ldd [%g7 + TCB_SP], %o6
    retl
    nop

above_taken:                /* the window above the new thread becomes the reserved one */
    wr %g0, %wim
    nop
    nop
    nop
    CLEAR_ABOVE(resume, %g0)
    restore
    ld [%g7 + TCB_WIM], %g3
    wr %g3, %wim
    nop
    ldd [%g7 + TCB_SP], %o6
    retl
    nop

absent:                     /* above the suspended thread: its reserved window is free */
#if defined(ALLOCATE_SEARCH) || defined(ALLOCATE_LRU)
#include "allocate.h"
#endif
#ifdef ALLOCATE_LRU
    wr %g0, %wim
    nop
    nop
    nop
    CLEAR_ABOVE(newest, %g7)
#else
absent_free:
    wr %g0, %wim
    rd %psr, %g2
    and %g2, 31, %g2
    sll %g2, 2, %g2
    st %g7, [%g6 + %g2]
    save
#endif
take_reserve:
    CLEAR_ABOVE(reserve, %g0)
    restore

#define LEFT_RESIDENT ba resident; st %g0, [%g6 + %g4]
#include "switch_left.h"
