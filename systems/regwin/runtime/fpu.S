/* Floating point: its registers stay with the thread that used them last. Threads run with it off; the first instruction
 * of one traps, the former owner's registers go to its record, and the thread has it from then on. A switch that loads
 * a thread turns it off (DROP_FPU); one to a thread with windows brings that thread's own state register. */
#include "window.h"
    .section .text.trap, "ax"
    .global fpu_disabled
fpu_disabled:                   /* %l0: state, %l1 and %l2: where to go on, %l3: PSR_EF, %l4: the upper part of fpu_owner */
#ifdef PREEMPT
    sethi %hi(irq_state), %l5
    ld [%l5 + %lo(irq_state)], %l5
    tst %l5
    bne bad_trap                /* in a handler of an interrupt */
    nop
#endif
    or %l0, %l3, %l0
    wr %l0, %psr
    ld [%l4 + %lo(fpu_owner)], %l5
    nop
    nop
    cmp %l5, %g7
    be fpu_kept
    tst %l5
fpu_other:
    be fpu_load
    st %g7, [%l4 + %lo(fpu_owner)]
fpu_store:
    std %f0, [%l5 + TCB_FPU]
    std %f2, [%l5 + TCB_FPU + 8]
    std %f4, [%l5 + TCB_FPU + 16]
    std %f6, [%l5 + TCB_FPU + 24]
    std %f8, [%l5 + TCB_FPU + 32]
    std %f10, [%l5 + TCB_FPU + 40]
    std %f12, [%l5 + TCB_FPU + 48]
    std %f14, [%l5 + TCB_FPU + 56]
    std %f16, [%l5 + TCB_FPU + 64]
    std %f18, [%l5 + TCB_FPU + 72]
    std %f20, [%l5 + TCB_FPU + 80]
    std %f22, [%l5 + TCB_FPU + 88]
    std %f24, [%l5 + TCB_FPU + 96]
    std %f26, [%l5 + TCB_FPU + 104]
    std %f28, [%l5 + TCB_FPU + 112]
    std %f30, [%l5 + TCB_FPU + 120]
    st %fsr, [%l5 + TCB_FSR]
    ld [%l5 + TCB_PSR], %l6
    andn %l6, %l3, %l6          /* it is off when the former owner runs again */
    st %l6, [%l5 + TCB_PSR]
fpu_load:
    ldd [%g7 + TCB_FPU], %f0
    ldd [%g7 + TCB_FPU + 8], %f2
    ldd [%g7 + TCB_FPU + 16], %f4
    ldd [%g7 + TCB_FPU + 24], %f6
    ldd [%g7 + TCB_FPU + 32], %f8
    ldd [%g7 + TCB_FPU + 40], %f10
    ldd [%g7 + TCB_FPU + 48], %f12
    ldd [%g7 + TCB_FPU + 56], %f14
    ldd [%g7 + TCB_FPU + 64], %f16
    ldd [%g7 + TCB_FPU + 72], %f18
    ldd [%g7 + TCB_FPU + 80], %f20
    ldd [%g7 + TCB_FPU + 88], %f22
    ldd [%g7 + TCB_FPU + 96], %f24
    ldd [%g7 + TCB_FPU + 104], %f26
    ldd [%g7 + TCB_FPU + 112], %f28
    ldd [%g7 + TCB_FPU + 120], %f30
    ld [%g7 + TCB_FSR], %fsr
fpu_kept:
    wr %l0, %psr                /* the flags */
    nop
    nop
    nop
    jmp %l1
    rett %l2

    .section .bss
    .align 4
    .global fpu_owner
fpu_owner: .skip 4
