/* What the mock of Zephyr has where Zephyr has arch/sparc/core: the same names and contracts, written anew. The port takes the place
 * of most of it. */
#include <offsets_short.h>
#include "flush_all.h"
#define NWIN CONFIG_SPARC_NWIN

    .section .text.arch_traps, "ax"
    .global __sparc_trap_window_overflow, __sparc_trap_window_underflow, __sparc_trap_flush_windows
TRAPS(__sparc_trap_window_overflow, __sparc_trap_window_underflow, __sparc_trap_flush_windows)

    .section .text.arch, "ax"
    .global z_sparc_context_switch
z_sparc_context_switch:         /* %o0: the next thread, %o1: the running one */
    rd %y, %o4
    st %o4, [%o1 + _thread_offset_to_y]
    STORE(%o1, _thread_offset_to_l0_and_l1)
    std %o6, [%o1 + _thread_offset_to_o6]
    rd %psr, %o4
    st %o4, [%o1 + _thread_offset_to_psr]
    andn %o4, 32, %g4
    wr %g4, %psr
    nop
    nop
    nop
    STORE_ALL
    st %o1, [%o1 + ___thread_t_switch_handle_OFFSET]
    ld [%o0 + _thread_offset_to_y], %o4
    wr %o4, %y
    ld [%o0 + _thread_offset_to_tls], %g7
    LOAD(%o0, _thread_offset_to_l0_and_l1)
    ldd [%o0 + _thread_offset_to_o6], %o6
    ld [%o0 + _thread_offset_to_psr], %g3
    and %g1, 31, %g1
    andn %g3, 31, %g3
    or %g3, %g1, %g3
    wr %g3, %psr
    nop
    nop
    nop
    retl
    nop

#define KEPT 144
    .global __sparc_trap_interrupt, __sparc_trap_irq_offload, __sparc_trap_fault, __sparc_trap_except_reason
__sparc_trap_irq_offload:
    mov %l2, %l1
    add %l2, 4, %l2
    mov 0x8d, %l3
__sparc_trap_interrupt:         /* %l3: level */
    ENTER_INTERRUPT
    sub %fp, KEPT, %sp
    std %l0, [%sp + 64]
    rd %y, %l4
    st %l2, [%sp + 72]
    st %l4, [%sp + 76]
    st %g1, [%sp + 80]
    std %g2, [%sp + 88]
    st %g4, [%sp + 96]
    std %i0, [%sp + 104]
    std %i2, [%sp + 112]
    std %i4, [%sp + 120]
    st %i7, [%sp + 128]
    set _kernel, %l5
    ld [%l5 + _kernel_offset_to_irq_stack], %sp
    sub %sp, 96, %sp
    or %l0, 0xf00, %l6
    wr %l6, 32, %psr
    nop
    nop
    nop
    call z_sparc_enter_irq
    mov %l3, %o0
    sub %fp, KEPT + 104, %sp
    call z_arch_get_next_switch_handle
    add %sp, 96, %o0
    ld [%sp + 96], %o1
    cmp %o0, %o1
    be 1f
    nop
    call z_sparc_context_switch
    nop
1:  sub %fp, KEPT, %g1
    ldd [%g1 + 64], %l0
    ldd [%g1 + 72], %l2
    wr %l3, %y
    ldd [%g1 + 88], %g2
    ld [%g1 + 96], %g4
    ldd [%g1 + 104], %i0
    ldd [%g1 + 112], %i2
    ldd [%g1 + 120], %i4
    ld [%g1 + 128], %i7
    rd %psr, %l3
    wr %l3, 32, %psr
    nop
    nop
    nop
    LEAVE_INTERRUPT
    ld [%g1 + 80], %g1
    jmp %l1
    rett %l2

/* As Zephyr's: it looks at a mask of one bit, and calls C. */
__sparc_trap_except_reason:
    ba 1f
    mov %g1, %l7
__sparc_trap_fault:
    mov -1, %l7
1:  rd %wim, %l4
    srl %l4, %l0, %l5
    cmp %l5, 1
    bne 2f
    mov %l4, %l3
    OLDEST_GOES
2:  sub %fp, 96, %sp
    or %l0, 0xf00, %l3
    wr %l3, 32, %psr
    nop
    nop
    nop
    mov %l7, %o0
    mov %l6, %o1
    call mock_fault
    mov %l1, %o2

    .global z_thread_entry_wrapper
z_thread_entry_wrapper:
    clr %o7
    mov %i0, %o0
    mov %i1, %o1
    mov %i2, %o2
    call z_thread_entry
    mov %i3, %o3
