/* Zephyr's switch, window traps and interrupt entry for threads that share the windows. The linker puts each `__wrap_NAME` in the
 * place of Zephyr's NAME (CMakeLists.txt); Zephyr's records, stacks, trap table and C stay as they are.
 *
 * Interrupts: Zephyr's entry takes a mask for one with a single bit, so it goes, too. Its C functions are called as it calls them.
 * Faults: Zephyr's own entry runs, once all other threads' windows are stored and the mask is one that it understands. */
#include <zephyr/toolchain.h>
#include <zephyr/linker/sections.h>
#include <offsets_short.h>
#include <zephyr/arch/sparc/sparc.h>

#define RW_NWIN CONFIG_SPARC_NWIN
#define RW_L0 _thread_offset_to_l0_and_l1
#define RW_PSR _thread_offset_to_psr

#define RW_KEEP(record, t, u) \
    rd %y, t; \
    st t, [record + _thread_offset_to_y]; \
    st record, [record + ___thread_t_switch_handle_OFFSET];
#ifdef CONFIG_THREAD_LOCAL_STORAGE
#define RW_GIVE_TLS(record) ld [record + _thread_offset_to_tls], %g7;
#else
#define RW_GIVE_TLS(record)
#endif
#define RW_GIVE(record, t) \
    ld [record + _thread_offset_to_y], t; \
    RW_GIVE_TLS(record) \
    wr t, %y;
#define RW_STATE(state, t)
#define RW_HEIR(state, t, u)
#define RW_AFTER(record)
#include "../windows.S"

    .section .text.rw_zephyr, "ax"
    .global __wrap_z_sparc_context_switch
    .global __wrap___sparc_trap_window_overflow, __wrap___sparc_trap_window_underflow, __wrap___sparc_trap_flush_windows
    .global __wrap___sparc_trap_interrupt, __wrap___sparc_trap_irq_offload
    .global __wrap___sparc_trap_fault, __wrap___sparc_trap_except_reason
__wrap_z_sparc_context_switch = rw_switch
__wrap___sparc_trap_window_overflow = rw_overflow
__wrap___sparc_trap_window_underflow = rw_underflow
__wrap___sparc_trap_flush_windows = rw_flush

/* Below the stack pointer of who is interrupted: the store area of a frame, and what no call keeps. */
#define KEPT 144
#define KEPT_PSR 64             /* and the pc */
#define KEPT_NPC 72             /* and %y */
#define KEPT_G1 80              /* and whether floating point was on */
#define KEPT_G2 88
#define KEPT_G4 96
#define KEPT_INS 104            /* %i0 to %i5 */
#define KEPT_I7 128

__wrap___sparc_trap_irq_offload: /* a trap that is to be taken for an interrupt: it is not repeated */
    mov %l2, %l1
    add %l2, 4, %l2
    mov 0x8d, %l3
__wrap___sparc_trap_interrupt:  /* %l0: state, %l1, %l2: where to go on, %l3: level */
    RW_INTERRUPT_ENTERS(interrupt)
    sub %fp, KEPT, %sp
    std %l0, [%sp + KEPT_PSR]
    rd %y, %l4
    st %l2, [%sp + KEPT_NPC]
    st %l4, [%sp + KEPT_NPC + 4]
    st %g1, [%sp + KEPT_G1]
    std %g2, [%sp + KEPT_G2]
    st %g4, [%sp + KEPT_G4]
    std %i0, [%sp + KEPT_INS]
    std %i2, [%sp + KEPT_INS + 8]
    std %i4, [%sp + KEPT_INS + 16]
    st %i7, [%sp + KEPT_I7]
    set _kernel, %l5
    ld [%l5 + _kernel_offset_to_irq_stack], %sp
    sub %sp, 96, %sp
    or %l0, PSR_PIL, %l6
#ifdef CONFIG_FPU
    set PSR_EF, %l5
    andcc %l0, %l5, %l5
    bne,a interrupt_waits       /* until the unit has ended what it does */
    st %fsr, [%sp]
interrupt_waits:
    andn %l6, %l5, %l6
#endif
    wr %l6, PSR_ET, %psr
    nop
    nop
    nop
#ifdef CONFIG_SCHED_THREAD_USAGE
    call z_sched_usage_stop
    nop
#endif
#ifdef CONFIG_TRACING_ISR
    call sys_trace_isr_enter
    nop
#endif
    call z_sparc_enter_irq
    mov %l3, %o0
#ifdef CONFIG_TRACING_ISR
    call sys_trace_isr_exit
    nop
#endif
#ifdef CONFIG_PREEMPT_ENABLED
    sub %fp, KEPT + 104, %sp    /* on the interrupted thread's stack */
    call z_arch_get_next_switch_handle
    add %sp, 96, %o0
    ld [%sp + 96], %o1
    cmp %o0, %o1
    be interrupt_ends
    nop
    call rw_switch
    nop
interrupt_ends:
#endif
    RW_INTERRUPT_LEAVES(PSR_ET)
    sub %fp, KEPT, %g1
    ldd [%g1 + KEPT_PSR], %l0
    ldd [%g1 + KEPT_NPC], %l2
    ldd [%g1 + KEPT_INS], %i0
    ldd [%g1 + KEPT_INS + 8], %i2
    ldd [%g1 + KEPT_INS + 16], %i4
    ld [%g1 + KEPT_I7], %i7
    wr %l3, %y
    wr %g3, %wim
    rd %psr, %l4
    and %l4, 31, %l4
    andn %l0, 31 | PSR_ET, %l0
    wr %l0, %l4, %psr
    ldd [%g1 + KEPT_G2], %g2
    ld [%g1 + KEPT_G4], %g4
    ld [%g1 + KEPT_G1], %g1
    jmp %l1
    rett %l2

/* Faults do not go on where they came from, so only what Zephyr's entry reads is kept: %l0 to %l2, %tbr in %l6, %g1. */
__wrap___sparc_trap_except_reason:
    ba fault
    clr %l7
__wrap___sparc_trap_fault:
    mov 1, %l7
fault:
    set rw_owner, %l6
    st %l7, [%l6 + RW_KEPT + 12]
    rd %wim, %l4
    srl %l4, %l0, %l4
    andcc %l4, 1, %g0
    be fault_has_room
    nop
    RW_MAKE_ROOM(fault)
fault_has_room:
    mov %g1, %l3
    mov %g2, %l4
    mov %g3, %l5
    mov %g4, %l6
    sub %fp, 96, %sp
    call rw_store_others
    nop
    rd %wim, %g1
    rd %psr, %g2
    wr %g0, %wim
    nop
    nop
    nop
fault_next:                     /* the bit below the lowest window stays: all others are the thread's */
    restore
    rd %psr, %g3
    srl %g1, %g3, %g4
    andcc %g4, 1, %g0
    be fault_next
    mov 1, %g4
    sll %g4, %g3, %g4
    and %g3, 31, %g3
    sll %g3, 2, %g3
    wr %g2, %psr
    wr %g4, %wim
    set rw_owner, %g2
    st %g0, [%g2 + %g3]
    ld [%g2 + RW_KEPT + 12], %l7
    mov %l3, %g1
    mov %l4, %g2
    mov %l5, %g3
    mov %l6, %g4
    tst %l7
    be fault_has_reason
    rd %tbr, %l6
    ba __real___sparc_trap_fault
    nop
fault_has_reason:
    ba __real___sparc_trap_except_reason
    nop
