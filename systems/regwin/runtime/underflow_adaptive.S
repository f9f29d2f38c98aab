/* Window underflow, windows shared, adaptive: in place as underflow_sharing.S, with short ways for the
 * restores that compilers write: those that add nothing, and those that move a constant or a register
 * into the first out register. */
#include "window.h"
    .section .text.trap, "ax"
    .global underflow

#define COPY_INS mov %i0, %o0; mov %i1, %o1; mov %i6, %o6
#define BACK wr %g3, %psr; nop; nop; nop; jmp %l2; rett %l2 + 4
/* %g4 is kept in the window of the trap meanwhile. */
#define BACK_KEPT wr %g3, %psr; nop; nop; nop; mov %l5, %g4; jmp %l2; rett %l2 + 4

underflow:                      /* %g3: state, %g2: the restore, %l4: its upper bits */
    cmp %l4, 0x40               /* its target is %g0: it adds nothing */
    be,a underflow_plain
underflow_goes:
    restore
underflow_adds:
    mov %g4, %l5
    restore
    srl %g2, 13, %g4
    and %g4, 63, %g4            /* first operand, and whether the second is a constant */
    cmp %g4, 1
    bne underflow_registers
    sll %g2, 19, %g4
underflow_constant:
    sra %g4, 19, %g4
underflow_sum:                  /* %g4: what the restore computes */
    COPY_INS
    FILL(%sp)
    srl %g2, 25, %g2
    cmp %g2, 0x48
    bne underflow_elsewhere
    nop
underflow_result:
    mov %g4, %o0
    BACK_KEPT
underflow_elsewhere:
    st %g3, [%g6 + OWNER_SCRATCH]
    and %g2, 31, %g2
    sll %g2, 3, %g2
    set registers_written, %g3
    jmpl %g3 + %g2, %g3
    nop
underflow_written:
    ld [%g6 + OWNER_SCRATCH], %g3
    BACK_KEPT

underflow_plain:
    COPY_INS
    FILL(%sp)
    BACK

underflow_registers:
    st %g3, [%g6 + OWNER_SCRATCH]
    srl %g2, 13, %g4
    andcc %g4, 1, %g0
    bne underflow_first
    nop
underflow_second:               /* the second operand is a register */
    and %g2, 31, %g3
    sll %g3, 3, %g3
    set registers_read, %g4
    jmpl %g4 + %g3, %g4
    nop
underflow_one:
    srl %g2, 14, %g4
    andcc %g4, 31, %g0          /* the first is %g0 */
    bne underflow_both
    mov %g3, %g4
underflow_moved:
    ba underflow_sum
    ld [%g6 + OWNER_SCRATCH], %g3
underflow_first:                /* the second is a constant */
    sll %g2, 19, %g3
    sra %g3, 19, %g3
underflow_both:
    st %g3, [%g6 + OWNER_SCRATCH + 4]
    srl %g2, 14, %g3
    and %g3, 31, %g3
    sll %g3, 3, %g3
    set registers_read, %g4
    jmpl %g4 + %g3, %g4
    nop
underflow_added:
    ld [%g6 + OWNER_SCRATCH + 4], %g4
    add %g3, %g4, %g4
    ba underflow_sum
    ld [%g6 + OWNER_SCRATCH], %g3

#define READ(reg) jmp %g4 + 8; mov reg, %g3
#define WRITE(reg) jmp %g3 + 8; mov %g4, reg
#include "registers.h"
