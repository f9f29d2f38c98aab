/* A program of somebody else: its own boot, trap table and window handlers, of eight windows. */
#define WINDOWS 8
#define BAD ta 1; nop; nop; nop     /* with traps off: the processor halts */
    .section .boot, "ax"
    .global _start
_start:                             /* the trap table: a reset begins here */
    ba boot; nop; nop; nop
    .rept 4; BAD; .endr
    ba overflow; rd %wim, %l3; nop; nop
    ba underflow; rd %wim, %l3; nop; nop
    .rept 256 - 7; BAD; .endr

    .type boot, #function
boot:
    set _start, %g1
    wr %g1, %tbr
    wr %g0, 2, %wim
    set 0x10e0, %g1                 /* supervisor, traps and floating point on */
    wr %g1, %psr
    nop; nop; nop
    set stack_end - 96, %sp
    call main
    clr %fp
    wr %g0, 0xc0, %psr              /* traps off, and a trap: the end */
    nop; nop; nop
    ta 0
    .size boot, .-boot

overflow:
    mov %g1, %l7
    srl %l3, 1, %g1
    sll %l3, WINDOWS - 1, %l4
    or %l4, %g1, %g1
    save
    wr %g1, %wim
    nop; nop; nop
    std %l0, [%sp]; std %l2, [%sp + 8]; std %l4, [%sp + 16]; std %l6, [%sp + 24]
    std %i0, [%sp + 32]; std %i2, [%sp + 40]; std %i4, [%sp + 48]; std %i6, [%sp + 56]
    restore
    mov %l7, %g1
    jmp %l1
    rett %l2

underflow:
    sll %l3, 1, %l4
    srl %l3, WINDOWS - 1, %l5
    or %l5, %l4, %l5
    wr %l5, %wim
    nop; nop; nop
    restore
    restore
    ldd [%sp], %l0; ldd [%sp + 8], %l2; ldd [%sp + 16], %l4; ldd [%sp + 24], %l6
    ldd [%sp + 32], %i0; ldd [%sp + 40], %i2; ldd [%sp + 48], %i4; ldd [%sp + 56], %i6
    save
    save
    jmp %l1
    rett %l2

    .section .bss
    .align 8
    .skip 16384
stack_end:
    .section .note.GNU-stack
