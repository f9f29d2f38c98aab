/* What the mock of RTEMS has where RTEMS has its switch, window traps and interrupt entry: the same names and contracts, written anew.
 * The port takes the place of most of it. */
#include <rtems/asm.h>
#include <rtems/score/percpu.h>
#include "flush_all.h"
#define NWIN SPARC_NUMBER_OF_REGISTER_WINDOWS

    .section .text.arch_traps, "ax"
    .global window_overflow_trap_handler, window_underflow_trap_handler, window_flush_trap_handler
TRAPS(window_overflow_trap, window_underflow_trap, window_flush_trap_handler)
window_overflow_trap_handler:   /* in the window to be stored */
    STORE(%sp, 0)
    rd %wim, %l3
    srl %l3, 1, %l4
    sll %l3, NWIN - 1, %l3
    wr %l4, %l3, %wim
    nop
    nop
    nop
    restore
    jmp %l1
    rett %l2
window_underflow_trap_handler:
    ba window_underflow_trap
    rd %psr, %l0

    .section .text.arch, "ax"
    .global _CPU_Context_switch, _CPU_Context_restore, _SPARC_Start_multitasking, _SPARC_Interrupt_trap
_CPU_Context_switch:            /* %o0: who runs, %o1: who runs next */
    st %g5, [%o0 + G5_OFFSET]
    STORE(%o0, L0_OFFSET)
    std %o6, [%o0 + O6_SP_OFFSET]
    ld [%g6 + PER_CPU_ISR_DISPATCH_DISABLE], %o4
    st %o4, [%o0 + ISR_DISPATCH_DISABLE_STACK_OFFSET]
    rd %psr, %o2
    st %o2, [%o0 + PSR_OFFSET]
    sethi %hi(SPARC_PSR_EF_MASK), %o3
    andcc %o2, %o3, %g0
    bne,a restore_heir
    st %fsr, [%o0 + SPARC_CONTEXT_CONTROL_FSR_OFFSET]
restore_heir:
    andn %o2, 32, %g1
    wr %g1, %psr
    nop
    nop
    nop
    STORE_ALL
    ld [%o1 + PSR_OFFSET], %g3
    ld [%g6 + SPARC_PER_CPU_FP_OWNER_OFFSET], %g2
    tst %g2
    sethi %hi(SPARC_PSR_EF_MASK), %g2
    bne,a 1f
    andn %g3, %g2, %g3
1:  andn %g3, 31, %g3
    and %g1, 31, %g1
    or %g3, %g1, %g3
    ld [%o1 + G5_OFFSET], %g5
    ld [%o1 + G7_OFFSET], %g7
    ld [%o1 + ISR_DISPATCH_DISABLE_STACK_OFFSET], %o2
    st %o2, [%g6 + PER_CPU_ISR_DISPATCH_DISABLE]
    LOAD(%o1, L0_OFFSET)
    andcc %g3, %g2, %g0
    mov %o1, %g2
    be 2f
    ldd [%o1 + O6_SP_OFFSET], %o6
    wr %g3, %psr
    nop
    nop
    nop
    retl
    ld [%g2 + SPARC_CONTEXT_CONTROL_FSR_OFFSET], %fsr
2:  wr %g3, %psr
    nop
    nop
    nop
    retl
    nop

_SPARC_Start_multitasking:
    ld [%o0 + O6_SP_OFFSET], %o6
_CPU_Context_restore:           /* %o0: who runs next */
    save %sp, -96, %sp
    mov %i0, %o1
    ba restore_heir
    rd %psr, %o2

#define FRAME (CPU_INTERRUPT_FRAME_SIZE)
_SPARC_Interrupt_trap:          /* %l3: source */
    ENTER_INTERRUPT
    sub %fp, FRAME, %sp
    std %l0, [%sp + ISF_PSR_OFFSET]
    st %l2, [%sp + ISF_NPC_OFFSET]
    st %g1, [%sp + ISF_G1_OFFSET]
    std %g2, [%sp + ISF_G2_OFFSET]
    std %g4, [%sp + ISF_G4_OFFSET]
    st %g7, [%sp + ISF_G7_OFFSET]
    std %i0, [%sp + ISF_I0_OFFSET]
    std %i2, [%sp + ISF_I2_OFFSET]
    std %i4, [%sp + ISF_I4_OFFSET]
    std %i6, [%sp + ISF_I6_FP_OFFSET]
    rd %y, %g1
    st %g1, [%sp + ISF_Y_OFFSET]
    ld [%g6 + PER_CPU_ISR_NEST_LEVEL], %l7
    ld [%g6 + PER_CPU_THREAD_DISPATCH_DISABLE_LEVEL], %l6
    add %l7, 1, %g1
    st %g1, [%g6 + PER_CPU_ISR_NEST_LEVEL]
    add %l6, 1, %g1
    st %g1, [%g6 + PER_CPU_THREAD_DISPATCH_DISABLE_LEVEL]
    sethi %hi(SPARC_PSR_EF_MASK), %l5
    tst %l7
    be,a 1f
    ld [%g6 + PER_CPU_INTERRUPT_STACK_HIGH], %sp
1:  sub %sp, 96, %sp
    sll %l3, 8, %g4
    and %g4, 0xf00, %g4
    andn %l0, 0xf00, %g5
    or %g4, %g5, %g5
    andn %g5, %l5, %g5
    wr %g5, 32, %psr
    nop
    nop
    nop
    call _SPARC_Interrupt_dispatch
    mov %l3, %o0
    ta 9
    ldub [%g6 + PER_CPU_DISPATCH_NEEDED], %o2
    ld [%g6 + PER_CPU_ISR_DISPATCH_DISABLE], %o3
    st %l7, [%g6 + PER_CPU_ISR_NEST_LEVEL]
    st %l6, [%g6 + PER_CPU_THREAD_DISPATCH_DISABLE_LEVEL]
    xor %o2, 1, %o2
    or %o2, %l6, %o2
    orcc %o2, %o3, %o2
    bne 4f
    sub %fp, FRAME + 96, %sp
2:  mov 1, %l6
    st %l6, [%g6 + PER_CPU_THREAD_DISPATCH_DISABLE_LEVEL]
    st %l6, [%g6 + PER_CPU_ISR_DISPATCH_DISABLE]
    andcc %l0, %l5, %g0
    be 3f
    ld [%g6 + PER_CPU_OFFSET_EXECUTING], %l4
    st %l4, [%g6 + SPARC_PER_CPU_FP_OWNER_OFFSET]
    mov %g6, %o0
    call _Thread_Do_dispatch
    clr %o1
    ld [%g6 + SPARC_PER_CPU_FP_OWNER_OFFSET], %l7
    cmp %l4, %l7
    be,a 5f
    st %g0, [%g6 + SPARC_PER_CPU_FP_OWNER_OFFSET]
    andn %l0, %l5, %l0
    sub %fp, FRAME, %l7
    ba 5f
    st %l0, [%l7 + ISF_PSR_OFFSET]
3:  mov %g6, %o0
    call _Thread_Do_dispatch
    clr %o1
5:  ta 9
    ldub [%g6 + PER_CPU_DISPATCH_NEEDED], %l7
    tst %l7
    bne 2b
    nop
    st %g0, [%g6 + PER_CPU_ISR_DISPATCH_DISABLE]
4:  sub %fp, FRAME, %g1
    ld [%g1 + ISF_Y_OFFSET], %l5
    wr %l5, %y
    ldd [%g1 + ISF_PSR_OFFSET], %l0
    ld [%g1 + ISF_NPC_OFFSET], %l2
    ldd [%g1 + ISF_G2_OFFSET], %g2
    ldd [%g1 + ISF_G4_OFFSET], %g4
    ld [%g1 + ISF_G7_OFFSET], %g7
    ldd [%g1 + ISF_I0_OFFSET], %i0
    ldd [%g1 + ISF_I2_OFFSET], %i2
    ldd [%g1 + ISF_I4_OFFSET], %i4
    ldd [%g1 + ISF_I6_FP_OFFSET], %i6
    rd %psr, %l3
    wr %l3, 32, %psr
    nop
    nop
    nop
    LEAVE_INTERRUPT
    ld [%g1 + ISF_G1_OFFSET], %g1
    jmp %l1
    rett %l2
