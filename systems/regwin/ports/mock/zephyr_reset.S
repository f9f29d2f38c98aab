/* The mock's trap table and reset, as Zephyr's arch/sparc/core has them beside the handlers. */
#define TRAP(handler) rd %psr, %l0; sethi %hi(handler), %l4; jmp %l4 + %lo(handler); rd %tbr, %l6
#define INTERRUPT(level) rd %psr, %l0; sethi %hi(__sparc_trap_interrupt), %l4; jmp %l4 + %lo(__sparc_trap_interrupt); mov level, %l3
#define BAD TRAP(__sparc_trap_fault)
    .section .text.traps, "ax"
    .global trap_table, mock_reset
trap_table:
mock_reset:
    ba reset; nop; nop; nop
    .rept 4; BAD; .endr
    TRAP(__sparc_trap_window_overflow)
    TRAP(__sparc_trap_window_underflow)
    .rept 0x11 - 7; BAD; .endr
    INTERRUPT(1); INTERRUPT(2); INTERRUPT(3); INTERRUPT(4); INTERRUPT(5); INTERRUPT(6); INTERRUPT(7); INTERRUPT(8)
    INTERRUPT(9); INTERRUPT(10); INTERRUPT(11); INTERRUPT(12); INTERRUPT(13); INTERRUPT(14); INTERRUPT(15)
    .rept 0x83 - 0x20; BAD; .endr
    TRAP(__sparc_trap_flush_windows)
    .rept 5; BAD; .endr
    TRAP(__sparc_trap_sw_set_pil)
    .rept 3; BAD; .endr
    TRAP(__sparc_trap_irq_offload)
    BAD
    TRAP(__sparc_trap_except_reason)
    .rept 256 - 0x90; BAD; .endr

    .section .text
reset:
    set trap_table, %g1
    wr %g1, %tbr
    wr %g0, 2, %wim
    wr %g0, 0xfe0, %psr         /* window 0 */
    set __bss_start, %g2
    set __bss_end, %g3
1:  cmp %g2, %g3
    bgeu 2f
    nop
    st %g0, [%g2]
    ba 1b
    add %g2, 4, %g2
2:  set mock_irq_stack_end - 96, %sp
    clr %fp
    call mock_kernel
    nop

    .section .text.set_pil, "ax"
    .global __sparc_trap_sw_set_pil
__sparc_trap_sw_set_pil:        /* %i0: the level; returns the one before */
    sll %i0, 8, %l5
    andn %l0, 0xf00, %l4
    or %l4, %l5, %l4
    srl %l0, 8, %i0
    and %i0, 15, %i0
    wr %l4, %psr
    nop
    nop
    nop
    jmp %l2
    rett %l2 + 4

    .section .bss
    .align 8
mock_irq_stack: .skip 4096
    .global mock_irq_stack_end
mock_irq_stack_end:
