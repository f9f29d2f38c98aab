/* Interrupts of level 1 to 3. The interrupted function keeps its registers below its stack pointer, but for a0 to a3, which a
 * call4 keeps as for any caller: what the scheme's handlers do with windows in between is theirs.
 * Handlers run on a stack of their own; another thread may run before the way back. */
#include "machine.h"
/* Bytes below the interrupted stack pointer; the last 16 are its caller's. */
#define KEPT 128
#define KEEP_A0 0
#define KEEP_A2 4
#define KEEP_A3 8
#define KEEP_PC 12
#define KEEP_PS 16
#define KEEP_SAR 20
#define KEEP_LBEG 24
#define KEEP_LEND 28
#define KEEP_LCOUNT 32
#define KEEP_A4 36
#define EACH_OF_12(of) \
    of a4, a0, KEEP_A4; of a5, a0, KEEP_A4 + 4; of a6, a0, KEEP_A4 + 8; of a7, a0, KEEP_A4 + 12; \
    of a8, a0, KEEP_A4 + 16; of a9, a0, KEEP_A4 + 20; of a10, a0, KEEP_A4 + 24; of a11, a0, KEEP_A4 + 28; \
    of a12, a0, KEEP_A4 + 32; of a13, a0, KEEP_A4 + 36; of a14, a0, KEEP_A4 + 40; of a15, a0, KEEP_A4 + 44

    .section .text.switch, "ax"
    .literal .Lhandler_ps, PS_WOE + PS_UM + LOCKED
    .literal .Lenter, interrupt_enters
    .literal .Llook, interrupt_looks
    .literal .Lstate, irq_state
    .literal .Lpending, irq_pending
    .literal .Lreschedule, irq_reschedule
    .literal .Lstack, irq_stack_end
    .global interrupt_1, level_2, level_3
    .p2align 2
interrupt_1:                    /* a0, a2, a3 are in EXCSAVE1 to 3; PS.EXCM is set */
    addi a0, a1, -KEPT
    rsr a2, excsave2
    s32i a2, a0, KEEP_A2
    rsr a2, excsave3
    s32i a2, a0, KEEP_A3
    rsr a2, excsave1
    s32i a2, a0, KEEP_A0
    rsr a2, epc1
    rsr a3, ps
    j interrupt
#define LEVEL(n) \
level_##n: \
    wsr a0, excsave##n; \
    addi a0, a1, -KEPT; \
    s32i a2, a0, KEEP_A2; \
    s32i a3, a0, KEEP_A3; \
    rsr a2, excsave##n; \
    s32i a2, a0, KEEP_A0; \
    rsr a2, epc##n; \
    rsr a3, eps##n; \
    j interrupt_higher
    LEVEL(2)
    LEVEL(3)
interrupt_higher:               /* goes back as from level 1 */
    movi a0, PS_EXCM
    or a3, a3, a0
    addi a0, a1, -KEPT
interrupt:
    s32i a2, a0, KEEP_PC
    s32i a3, a0, KEEP_PS
    rsr a2, sar
    s32i a2, a0, KEEP_SAR
    rsr a2, lbeg
    s32i a2, a0, KEEP_LBEG
    rsr a2, lend
    s32i a2, a0, KEEP_LEND
    rsr a2, lcount
    s32i a2, a0, KEEP_LCOUNT
    movi a2, 0
    wsr a2, lcount
    l32r a2, .Lhandler_ps
    wsr a2, ps              /* overflows make room for 16 registers */
    rsync
    EACH_OF_12(s32i)
    l32r a4, .Lenter
    callx4 a4
    l32r a2, .Lstate
    l32i a2, a2, 4
    beqz a2, interrupt_ends
    l32r a4, .Llook
    callx4 a4
interrupt_ends:
    addi a0, a1, -KEPT
    EACH_OF_12(l32i)
    l32i a2, a0, KEEP_SAR
    wsr a2, sar
    l32i a2, a0, KEEP_PS
    wsr a2, ps              /* PS.EXCM masks interrupts from here */
    rsync
    l32i a2, a0, KEEP_LBEG
    wsr a2, lbeg
    l32i a2, a0, KEEP_LEND
    wsr a2, lend
    l32i a2, a0, KEEP_LCOUNT
    wsr a2, lcount
    l32i a2, a0, KEEP_PC
    wsr a2, epc1
    l32i a2, a0, KEEP_A2
    l32i a3, a0, KEEP_A3
    l32i a0, a0, KEEP_A0
    rfe

/* Handlers, on their own stack. The caller is still in the registers when the stack pointer changes, so it is stored and found
 * below the new one. */
    .p2align 2
interrupt_enters:
    entry a1, KEPT
    l32r a1, .Lstack
    l32r a2, .Lstate
    movi a3, 1
    s32i a3, a2, 0
    l32r a8, .Lpending
    callx8 a8
    l32r a2, .Lstate
    movi a3, 0
    s32i a3, a2, 0
    retw
/* Another thread, or the same one. */
    .p2align 2
interrupt_looks:
    entry a1, KEPT
    l32r a8, .Lreschedule
    callx8 a8
    retw

/* Without a frame. */
    .section .text.app, "ax"
    .global irq_lock, irq_unlock
    .p2align 2
irq_lock:
    rsil a10, LOCKED
    extui a10, a10, 0, 4
    RETURN
    .p2align 2
irq_unlock:                     /* a10: what irq_lock returned */
    rsr a9, ps
    srli a9, a9, 4
    slli a9, a9, 4
    or a9, a9, a10
    wsr a9, ps
    rsync
    RETURN

    .section .rodata
    .global text_calls, text_yield
text_calls: .asciz "calls "
text_yield: .asciz "thr_yield"

    .section .bss
    .p2align 4
irq_stack: .skip THR_IRQ_STACK
irq_stack_end:
