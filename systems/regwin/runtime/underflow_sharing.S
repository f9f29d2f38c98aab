/* Window underflow, windows shared: the caller's window is loaded in place of the callee's, which
 * needs no window of anybody else. The trapped restore is not repeated: what it adds is added here.
 *
 * By the calling convention only results and stack pointer of the callee's in registers live on
 * as the caller's out registers; UNDERFLOW_COPIES_ALL copies all eight. */
#include "window.h"

#ifdef UNDERFLOW_COPIES_ALL
#define COPY_INS \
    mov %i0, %o0; mov %i1, %o1; mov %i2, %o2; mov %i3, %o3; \
    mov %i4, %o4; mov %i5, %o5; mov %i6, %o6; mov %i7, %o7
#else
#define COPY_INS mov %i0, %o0; mov %i1, %o1; mov %i6, %o6
#endif

    .section .text.trap, "ax"
    .global underflow
underflow:                      /* %l0: state, %l3: window mask, %l4: the restore */
    srl %l4, 25, %l4
    cmp %l4, 0x40               /* its target is %g0: it adds nothing */
    bne underflow_adds
    wr %g0, %wim
underflow_plain:
    restore
    COPY_INS
    FILL(%sp)
    save
    wr %l3, %wim
    wr %l0, %psr
    nop
    jmp %l2
    rett %l2 + 4

underflow_adds:
    ld [%l1], %g2
    restore
    set registers_read, %g4
    srl %g2, 14 - 3, %g3
    and %g3, 31 << 3, %g3
    jmpl %g4 + %g3, %g4         /* %g3: the first operand */
    nop
underflow_first:
    srl %g2, 13, %g4
    andcc %g4, 1, %g0
    be underflow_register
    st %g3, [%g6 + OWNER_SCRATCH]
underflow_immediate:
    sll %g2, 19, %g3
    ba underflow_sum
    sra %g3, 19, %g3
underflow_register:
    set registers_read, %g4
    and %g2, 31, %g3
    sll %g3, 3, %g3
    jmpl %g4 + %g3, %g4
    nop
underflow_sum:
    ld [%g6 + OWNER_SCRATCH], %g4
    add %g3, %g4, %g3
    COPY_INS
    FILL(%sp)
    set registers_written, %g4
    srl %g2, 25 - 3, %g2
    and %g2, 31 << 3, %g2
    jmpl %g4 + %g2, %g4
    nop
underflow_added:
    save
    wr %l3, %wim
    wr %l0, %psr
    nop
    jmp %l2
    rett %l2 + 4

#define READ(reg) jmp %g4 + 8; mov reg, %g3
#define WRITE(reg) jmp %g4 + 8; mov %g3, reg
#include "registers.h"
