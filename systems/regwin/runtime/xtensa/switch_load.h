/* The newest frame of thread a10 comes from its record into the current window. */
load:
    l32i a8, a10, TCB_PC
#ifdef PREEMPT
    l32i a11, a10, TCB_PS
#endif
    l32i a0, a10, TCB_FRAME; l32i a1, a10, TCB_FRAME + 4; l32i a2, a10, TCB_FRAME + 8; l32i a3, a10, TCB_FRAME + 12
    l32i a4, a10, TCB_FRAME + 16; l32i a5, a10, TCB_FRAME + 20; l32i a6, a10, TCB_FRAME + 24; l32i a7, a10, TCB_FRAME + 28
    UNLOCK(a11)
    RETURN
