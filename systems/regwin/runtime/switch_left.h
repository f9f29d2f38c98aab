/* What a context switch of both sharing schemes ends with: a thread whose windows were stored,
 * and the two ways to suspend that leave no window after. LEFT_RESIDENT is what each does to go on
 * with a thread that still has windows. */
load:
    DROP_FPU(load, %g2, %g3)
    rd %psr, %g2
    mov 1, %g3
    sll %g3, %g2, %g3
    wr %g3, -1, %wim
    ldd [%g7 + TCB_SP], %o6
    FILL(%sp)
    retl
    nop

SWITCH_FLUSH:            /* leaves no window after */
    CHECK_STACK(%sp, %o0)
    rd %wim, %o0
    wr %g0, %wim
    srl %o0, 1, %o1
    SHIFT_LAST(sll, %o0, %o0)
    or %o0, %o1, %g2
    std %o6, [%g7 + TCB_SP]
    st %g0, [%g7 + TCB_PSR]
flush_next:
    STORES_WINDOW
    SPILL(%sp)
    rd %psr, %g3
    srl %g2, %g3, %g4
    andcc %g4, 1, %g0
    be flush_next
    restore
left:                       /* in the window below those given up */
    rd %psr, %g2
    and %g2, 31, %g2
    sll %g2, 2, %g4
    mov %g5, %g7
    ldd [%g7 + TCB_PSR], %g2
    tst %g2
    be left_absent
thr_to_left:
    ld [%g7 + TCB_NEXT], %g5
left_resident:
    LEFT_RESIDENT
left_absent:
    st %g7, [%g6 + %g4]
    ba load
    save

thr_leave:
    wr %g0, %wim
    nop
    nop
    nop
    ba left
    restore
