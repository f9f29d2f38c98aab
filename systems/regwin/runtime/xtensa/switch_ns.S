/* The switch, one thread in the registers: all frames of the suspended one are stored, the newest of the next is loaded. */
#include "machine.h"
#include "switch_begin.h"
    s32i a0, a12, TCB_FRAME; s32i a1, a12, TCB_FRAME + 4; s32i a2, a12, TCB_FRAME + 8; s32i a3, a12, TCB_FRAME + 12
    s32i a4, a12, TCB_FRAME + 16; s32i a5, a12, TCB_FRAME + 20; s32i a6, a12, TCB_FRAME + 24; s32i a7, a12, TCB_FRAME + 28
    s32i a8, a12, TCB_PC
#ifdef PREEMPT
    s32i a11, a12, TCB_PS
#endif
    SPILL_OTHERS
#include "switch_load.h"

thr_leave:
    TAKE_NEXT
    or a15, a15, a15
    j load
