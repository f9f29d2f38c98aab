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
registers_read:
    READ(%g0); READ(%g1); READ(%g2); READ(%g3); READ(%g4); READ(%g5); READ(%g6); READ(%g7)
    READ(%o0); READ(%o1); READ(%o2); READ(%o3); READ(%o4); READ(%o5); READ(%o6); READ(%o7)
    READ(%l0); READ(%l1); READ(%l2); READ(%l3); READ(%l4); READ(%l5); READ(%l6); READ(%l7)
    READ(%i0); READ(%i1); READ(%i2); READ(%i3); READ(%i4); READ(%i5); READ(%i6); READ(%i7)
registers_written:
    WRITE(%g0); WRITE(%g1); WRITE(%g2); WRITE(%g3); WRITE(%g4); WRITE(%g5); WRITE(%g6); WRITE(%g7)
    WRITE(%o0); WRITE(%o1); WRITE(%o2); WRITE(%o3); WRITE(%o4); WRITE(%o5); WRITE(%o6); WRITE(%o7)
    WRITE(%l0); WRITE(%l1); WRITE(%l2); WRITE(%l3); WRITE(%l4); WRITE(%l5); WRITE(%l6); WRITE(%l7)
    WRITE(%i0); WRITE(%i1); WRITE(%i2); WRITE(%i3); WRITE(%i4); WRITE(%i5); WRITE(%i6); WRITE(%i7)
