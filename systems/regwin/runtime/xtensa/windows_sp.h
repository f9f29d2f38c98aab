/* Underflow and overflow with several threads in the registers.
 *
 * Where the caller would be loaded another thread's frame may lie. So it is loaded in the place of the callee,
 * whose return address, stack pointer and return values move up by the size of the call, into
 * registers that are the caller's; then the return is executed once more, from there. Above a
 * thread's oldest frame up to its newest nothing is another thread's, and the newest of a suspended
 * one has all of its 16 registers: so there is room, and no start bit lies in the three places below
 * a thread's oldest frame, where a return looks for its caller.
 *
 * The exception is taken one call below: with the caller's window as the current one, and the callee's
 * place in PS.OWB. ROTW goes back to the callee; at the end RFWU sets the start bit of the moved one. */
#define MOVED(by, scratch) rsr scratch, ps; addmi scratch, scratch, 256 * by; wsr scratch, ps

#define UNDERFLOW_4 \
    rotw 1; \
    mov.n a9, a5; mov.n a8, a4; mov.n a7, a3; mov.n a6, a2; mov.n a5, a1; mov.n a4, a0; \
    MOVED(1, a10); \
    l32e a0, a5, -16; l32e a1, a5, -12; l32e a2, a5, -8; l32e a3, a5, -4; \
    rsync; rotw 1; rfwu
#define UNDERFLOW_8 \
    rotw 2; \
    mov.n a8, a0; mov.n a9, a1; mov.n a10, a2; mov.n a11, a3; mov.n a12, a4; mov.n a13, a5; \
    MOVED(2, a14); \
    l32e a0, a9, -16; l32e a1, a9, -12; l32e a2, a9, -8; l32e a3, a9, -4; l32e a7, a1, -12; \
    l32e a4, a7, -32; l32e a5, a7, -28; l32e a6, a7, -24; l32e a7, a7, -20; \
    rsync; rotw 2; rfwu
/* The caller sees two return values only. Too long for its vector. */
#define UNDERFLOW_12 j underflow_12
#define UNDERFLOW_12_BODY \
    rotw 3; \
    mov.n a12, a0; mov.n a13, a1; mov.n a14, a2; mov.n a15, a3; \
    MOVED(3, a4); \
    l32e a0, a13, -16; l32e a1, a13, -12; l32e a2, a13, -8; l32e a3, a13, -4; l32e a11, a1, -12; \
    l32e a4, a11, -48; l32e a5, a11, -44; l32e a6, a11, -40; l32e a7, a11, -36; \
    l32e a8, a11, -32; l32e a9, a11, -28; l32e a10, a11, -24; l32e a11, a11, -20; \
    rsync; rotw 3; rfwu

/* The newest frame of a suspended thread: the next start bit is four or more places on, which leads to the vector for call12.
 * It is known by a12 and a13, which both hold its record; of a caller by call12 they are the callee's
 * return address and stack pointer. Its registers are eight, and what the switch left beside them. */
#define OVERFLOW_TOP beq a12, a13, overflow_top_near
#define OVERFLOW_TOP_NEAR overflow_top_near: j overflow_top
#define OVERFLOW_TOP_BODY \
    s32i a0, a12, TCB_FRAME; s32i a1, a12, TCB_FRAME + 4; s32i a2, a12, TCB_FRAME + 8; s32i a3, a12, TCB_FRAME + 12; \
    s32i a4, a12, TCB_FRAME + 16; s32i a5, a12, TCB_FRAME + 20; s32i a6, a12, TCB_FRAME + 24; s32i a7, a12, TCB_FRAME + 28; \
    s32i a8, a12, TCB_PC; s32i a11, a12, TCB_PS; \
    movi a13, -1; s32i a13, a12, TCB_PLACE; rfwo
