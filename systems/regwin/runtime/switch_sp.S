/* Context switch, windows shared, a private reserved window for each thread. Stack pointer and
 * return address of a suspended thread stay in its reserved window. */
#include "window.h"
#include "switch_sharing.h"
    .section .text.switch, "ax"
    .global SWITCH_LEAVE, SWITCH_FLUSH, thr_leave, thr_to, thr_to_left
SWITCH_LEAVE:
    LEAVE_WINDOWS
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
#if defined(ALLOCATE_SEARCH) || defined(ALLOCATE_LRU)
#include "allocate.h"
#endif
absent_free:
    wr %g0, %wim
    nop
    nop
    nop
    save
    CLEAR_ABOVE(newest, %g7)
    CLEAR_ABOVE(reserve, %g0)
    restore

#define LEFT_RESIDENT st %g0, [%g6 + %g4]; ba resident; nop
#include "switch_left.h"
