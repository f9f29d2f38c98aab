/* The mock's trap table, reset and system calls, as RTEMS has them beside the handlers: an overflow's entry begins with a save. */
#define TRAP(handler, number) rd %psr, %l0; sethi %hi(handler), %l4; jmp %l4 + %lo(handler); mov number, %l3
#define INTERRUPT(level) TRAP(_SPARC_Interrupt_trap, level)
#define BAD ta 0; nop; nop; nop
    .section .text.traps, "ax"
    .global trap_table, mock_reset
trap_table:
mock_reset:
    ba reset; nop; nop; nop
    .rept 4; BAD; .endr
    sethi %hi(window_overflow_trap_handler), %l4; jmp %l4 + %lo(window_overflow_trap_handler); save; nop
    rd %wim, %l3; sethi %hi(window_underflow_trap_handler), %l4; jmp %l4 + %lo(window_underflow_trap_handler); sll %l3, 1, %l4
    .rept 0x11 - 7; BAD; .endr
    INTERRUPT(1); INTERRUPT(2); INTERRUPT(3); INTERRUPT(4); INTERRUPT(5); INTERRUPT(6); INTERRUPT(7); INTERRUPT(8)
    INTERRUPT(9); INTERRUPT(10); INTERRUPT(11); INTERRUPT(12); INTERRUPT(13); INTERRUPT(14); INTERRUPT(15)
    .rept 0x83 - 0x20; BAD; .endr
    TRAP(window_flush_trap_handler, 0x83)
    .rept 5; BAD; .endr
    rd %psr, %l0; sethi %hi(syscall_irqdis), %l4; jmp %l4 + %lo(syscall_irqdis); or %l0, 0xf00, %l3
    rd %psr, %l0; sethi %hi(syscall_irqen), %l4; jmp %l4 + %lo(syscall_irqen); andn %l0, 0xf00, %l3
    .rept 256 - 0x8b; BAD; .endr

    .section .text
reset:
    set trap_table, %g1
    wr %g1, %tbr
    rd %psr, %g1
    wr %g1, 3, %psr             /* some window: nobody relies on a certain one */
    nop
    nop
    nop
    mov 1 << ((3 + 1) % SPARC_NUMBER_OF_REGISTER_WINDOWS), %g2
    wr %g2, %wim
    rd %psr, %g1
    or %g1, 0xf20, %g1
    wr %g1, %psr
    set __bss_start, %g2
    set __bss_end, %g3
1:  cmp %g2, %g3
    bgeu 2f
    nop
    st %g0, [%g2]
    ba 1b
    add %g2, 4, %g2
2:  set _Per_CPU_Information, %g6
    set mock_irq_stack_end - 96, %sp
    clr %fp
    call mock_kernel
    nop
syscall_irqdis:                 /* %g1: the state before */
    wr %l3, %psr
    or %l0, 32, %g1
    nop
    jmp %l2
    rett %l2 + 4
syscall_irqen:                  /* %g1: the state whose level is wanted */
    and %g1, 0xf00, %l4
    wr %l3, %l4, %psr
    nop
    nop
    jmp %l2
    rett %l2 + 4

    .section .bss
    .align 8
mock_irq_stack: .skip 4096
    .global mock_irq_stack_end
mock_irq_stack_end:
