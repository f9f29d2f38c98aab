/* What both overflow handlers that share windows begin with: the reserved window becomes the thread's newest, and the
 * one above it is free, or another thread's. */
overflow:                       /* %l0: state, %l3: window mask, %l4: number of this window */
    CHECK_STACK(%fp, %l6)
    sll %l4, 2, %l4
    ld [%g6 + %l4], %g3
    mov 1, %l5
    tst %g3
    bne overflow_taken
    sll %l5, %l0, %l5           /* bit of this window */
overflow_free:
    wr %l3, %l5, %wim
    wr %l0, %psr
    jmp %l1
    rett %l2

overflow_taken:
    cmp %g3, %g7
    bne overflow_other
    st %g0, [%g6 + %l4]
