/* The switch, windows shared: a suspended thread's frames stay where they are until their place is wanted. The next thread's
 * newest frame is still there, or is loaded four places above that of the suspended one. */
#include "machine.h"
#include "switch_begin.h"
    rsr a13, windowbase
    s32i a13, a12, TCB_PLACE
    or a13, a12, a12        /* marks the frame, for the overflow */
    l32i a14, a10, TCB_PLACE
    bltz a14, absent
resident:
    wsr a14, windowbase
    rsync
    UNLOCK(a11)
    RETURN

absent:                         /* a window two places on opens another two places further, so that there is a start bit */
    rotw 2
    entry a1, 16
    l32r a9, .Lqueue
    l32i a10, a9, QUEUE_SELF
    or a15, a15, a15        /* all 16 registers */
#include "switch_load.h"

thr_leave:                      /* the thread ends, and with it its only frame */
    TAKE_NEXT
    l32i a14, a10, TCB_PLACE
    bltz a14, load
    rsr a13, windowbase
    ssl a13
    movi a13, 1
    sll a13, a13
    rsr a15, windowstart
    xor a15, a15, a13
    wsr a15, windowstart
    j resident
