/* RTEMS' context switch, window traps and interrupt entry for threads that share the windows. The linker puts each `__wrap_NAME` in the
 * place of RTEMS' NAME (regwin.mk); RTEMS' contexts, stacks, trap table and C stay as they are. Before the first thread runs
 * three entries of the trap table, which lies in RAM, are written anew: RTEMS' own for an overflow begins with a save, which is for one
 * mask bit.
 *
 * What lies in an interrupt stack frame is as RTEMS has it; so is what happens to the floating point unit. */
#include <rtems/asm.h>
#include <rtems/score/percpu.h>

#if defined(RTEMS_SMP) || defined(RTEMS_PARAVIRT)
#error "regwin: one processor, and its own"
#endif
#ifdef RTEMS_PROFILING
#error "regwin: interrupts are not profiled"
#endif

#define RW_NWIN SPARC_NUMBER_OF_REGISTER_WINDOWS
#define RW_L0 L0_OFFSET
#define RW_PSR PSR_OFFSET

#define RW_KEEP(record, t, u) \
    st %g5, [record + G5_OFFSET]; \
    ld [%g6 + PER_CPU_ISR_DISPATCH_DISABLE], t; \
    RW_KEEP_FSR(record, t, u) \
    st t, [record + ISR_DISPATCH_DISABLE_STACK_OFFSET];
#define RW_GIVE(record, t) \
    ld [record + ISR_DISPATCH_DISABLE_STACK_OFFSET], t; \
    ld [record + G5_OFFSET], %g5; \
    ld [record + G7_OFFSET], %g7; \
    st t, [%g6 + PER_CPU_ISR_DISPATCH_DISABLE];
/* %g4: the level of interrupts before the switch. */
#define RW_STATE(state, t) \
    andn state, SPARC_PSR_PIL_MASK, state; \
    or state, %g4, state;
#ifdef SPARC_CONTEXT_CONTROL_FSR_OFFSET /* since 2026; before, a context has no %fsr */
#define RW_KEEP_FSR(record, t, u) \
    sethi %hi(SPARC_PSR_EF_MASK), u; \
    andcc %g1, u, %g0; \
    bne,a keeps_fsr; \
    st %fsr, [record + SPARC_CONTEXT_CONTROL_FSR_OFFSET]; \
keeps_fsr:
#define RW_AFTER(record) \
    rd %psr, %g2; \
    sethi %hi(SPARC_PSR_EF_MASK), %g3; \
    andcc %g2, %g3, %g0; \
    bne,a 1f; \
    ld [record + SPARC_CONTEXT_CONTROL_FSR_OFFSET], %fsr; \
1:
#else
#define RW_KEEP_FSR(record, t, u)
#define RW_AFTER(record)
#endif
#if SPARC_HAS_FPU == 1
/* While somebody else owns the unit, it is off. */
#define RW_HEIR(state, t, u) \
    ld [%g6 + SPARC_PER_CPU_FP_OWNER_OFFSET], t; \
    sethi %hi(SPARC_PSR_EF_MASK), u; \
    tst t; \
    bne,a 1f; \
    andn state, u, state; \
1:
#else
#define RW_HEIR(state, t, u)
#endif
#include "../windows.S"

    .section .text.rw_rtems, "ax"
    .global __wrap__CPU_Context_switch, __wrap__CPU_Context_switch_no_return, __wrap__CPU_Context_restore
    .global __wrap__SPARC_Start_multitasking, __wrap__SPARC_Interrupt_trap
/* Interrupts are masked by a trap: between reading and writing %psr the frame might come to lie in another window. */
__wrap__CPU_Context_switch:     /* %o0: who runs, %o1: who runs next */
__wrap__CPU_Context_switch_no_return:
    ta SPARC_SWTRAP_IRQDIS      /* %g1: the state before */
    mov %o0, %o2
    mov %o1, %o0
    mov %o2, %o1
    ba rw_switch
    and %g1, SPARC_PSR_PIL_MASK, %g4

__wrap__CPU_Context_restore:    /* %o0: who runs next; the one that runs begins anew, or is none */
    ta SPARC_SWTRAP_IRQDIS
    ba rw_drop
    nop

/* Interrupts are masked since reset; from here on the masks are ours. */
__wrap__SPARC_Start_multitasking:
    rd %tbr, %o2
    andn %o2, 0xfff, %o2
    set vectors, %o3
    set vectors_end, %o4
start_vector:
    ld [%o3], %o5
    add %o5, %o2, %o5           /* the entry */
    ld [%o3 + 4], %g1
    st %g1, [%o5]
    ld [%o3 + 8], %g1
    st %g1, [%o5 + 4]
    ld [%o3 + 12], %g1
    st %g1, [%o5 + 8]
    ld [%o3 + 16], %g1
    st %g1, [%o5 + 12]
    flush %o5
    flush %o5 + 8
    add %o3, 20, %o3
    cmp %o3, %o4
    bne start_vector
    nop
    ba rw_drop                  /* of the thread that starts the others nothing is needed any more */
    nop

#define VECTOR(type, handler) \
    .word type * 16; \
    rd %psr, %l0; \
    sethi %hi(handler), %l4; \
    jmp %l4 + %lo(handler); \
    nop
    .align 4
vectors:
    VECTOR(5, rw_overflow)
    VECTOR(6, rw_underflow)
    VECTOR(0x83, rw_flush)
vectors_end:

#define FRAME (CPU_INTERRUPT_FRAME_SIZE)
__wrap__SPARC_Interrupt_trap:   /* %l0: state, %l1, %l2: where to go on, %l3: source */
    RW_INTERRUPT_ENTERS(interrupt)
    sub %fp, FRAME, %sp
    std %l0, [%sp + ISF_PSR_OFFSET]
    st %l2, [%sp + ISF_NPC_OFFSET]
    st %g1, [%sp + ISF_G1_OFFSET]
    std %g2, [%sp + ISF_G2_OFFSET]
    std %g4, [%sp + ISF_G4_OFFSET]
    rd %y, %g1
    st %g7, [%sp + ISF_G7_OFFSET]
    std %i0, [%sp + ISF_I0_OFFSET]
    std %i2, [%sp + ISF_I2_OFFSET]
    std %i4, [%sp + ISF_I4_OFFSET]
    std %i6, [%sp + ISF_I6_FP_OFFSET]
    st %g1, [%sp + ISF_Y_OFFSET]
    ld [%g6 + PER_CPU_ISR_NEST_LEVEL], %l7
    ld [%g6 + PER_CPU_THREAD_DISPATCH_DISABLE_LEVEL], %l6
    add %l7, 1, %l4
    st %l4, [%g6 + PER_CPU_ISR_NEST_LEVEL]
    add %l6, 1, %l4
    st %l4, [%g6 + PER_CPU_THREAD_DISPATCH_DISABLE_LEVEL]
    tst %l7
    bne interrupt_nests
    andn %l0, SPARC_PSR_PIL_MASK, %g5
    ld [%g6 + PER_CPU_INTERRUPT_STACK_HIGH], %sp
#if SPARC_HAS_FPU == 1
    sethi %hi(SPARC_PSR_EF_MASK), %g4
    andcc %l0, %g4, %g0
    bne,a interrupt_nests       /* until the unit has ended what it does */
    st %fsr, [%g6 + SPARC_PER_CPU_FSR_OFFSET]
#endif
interrupt_nests:
    sub %sp, SPARC_MINIMUM_STACK_FRAME_SIZE, %sp
    sll %l3, 8, %g4
    and %g4, SPARC_PSR_PIL_MASK, %g4
    or %g5, %g4, %g5
#if SPARC_HAS_FPU == 1
    sethi %hi(SPARC_PSR_EF_MASK), %g4
    andn %g5, %g4, %g5
#endif
    wr %g5, SPARC_PSR_ET_MASK, %psr
    nop
    nop
    nop
    call _SPARC_Interrupt_dispatch
    mov %l3, %o0
    ta SPARC_SWTRAP_IRQDIS
    ldub [%g6 + PER_CPU_DISPATCH_NEEDED], %o2
    ld [%g6 + PER_CPU_ISR_DISPATCH_DISABLE], %o3
    st %l7, [%g6 + PER_CPU_ISR_NEST_LEVEL]
    st %l6, [%g6 + PER_CPU_THREAD_DISPATCH_DISABLE_LEVEL]
    xor %o2, 1, %o2             /* needed, and nothing against it? */
    or %o2, %l6, %o2
    orcc %o2, %o3, %o2
    bne interrupt_ends
    sub %fp, FRAME + SPARC_MINIMUM_STACK_FRAME_SIZE, %sp
interrupt_dispatches:
    mov 1, %l4
    st %l4, [%g6 + PER_CPU_THREAD_DISPATCH_DISABLE_LEVEL]
    st %l4, [%g6 + PER_CPU_ISR_DISPATCH_DISABLE]
#if SPARC_HAS_FPU == 1          /* who is interrupted in floating point owns the unit, until somebody else takes it */
    sethi %hi(SPARC_PSR_EF_MASK), %l5
    andcc %l0, %l5, %l5
    be dispatch_plain
    ld [%g6 + PER_CPU_OFFSET_EXECUTING], %l4
    st %l4, [%g6 + SPARC_PER_CPU_FP_OWNER_OFFSET]
dispatch_plain:
#endif
    mov %g6, %o0
    call _Thread_Do_dispatch
    clr %o1
    ta SPARC_SWTRAP_IRQDIS
#if SPARC_HAS_FPU == 1
    tst %l5
    be dispatch_done
    ld [%g6 + SPARC_PER_CPU_FP_OWNER_OFFSET], %o2
    cmp %l4, %o2
    be dispatch_done
    st %g0, [%g6 + SPARC_PER_CPU_FP_OWNER_OFFSET]
    st %o2, [%g6 + SPARC_PER_CPU_FP_OWNER_OFFSET] /* taken: its next instruction takes it back */
    andn %l0, %l5, %l0
    sub %fp, FRAME, %o3
    st %l0, [%o3 + ISF_PSR_OFFSET]
dispatch_done:
#endif
    ldub [%g6 + PER_CPU_DISPATCH_NEEDED], %o2
    tst %o2
    bne interrupt_dispatches
    nop
    st %g0, [%g6 + PER_CPU_ISR_DISPATCH_DISABLE]
interrupt_ends:
    RW_INTERRUPT_LEAVES(SPARC_PSR_ET_MASK)
    sub %fp, FRAME, %g1
    ldd [%g1 + ISF_PSR_OFFSET], %l0
    ld [%g1 + ISF_NPC_OFFSET], %l2
    ld [%g1 + ISF_Y_OFFSET], %l5
    ldd [%g1 + ISF_I0_OFFSET], %i0
    ldd [%g1 + ISF_I2_OFFSET], %i2
    ldd [%g1 + ISF_I4_OFFSET], %i4
    ld [%g1 + ISF_I7_OFFSET], %i7
    ld [%g1 + ISF_G7_OFFSET], %g7
    wr %l5, %y
    wr %g3, %wim
    rd %psr, %l4
    and %l4, 31, %l4
    andn %l0, 31, %l0
    andn %l0, SPARC_PSR_ET_MASK, %l0
    wr %l0, %l4, %psr
    ldd [%g1 + ISF_G2_OFFSET], %g2
    ldd [%g1 + ISF_G4_OFFSET], %g4
    ld [%g1 + ISF_G1_OFFSET], %g1
    jmp %l1
    rett %l2
