/* Where a thread without windows goes, for the schemes that share: without this file, above the suspended thread.
 *
 * ALLOCATE_SEARCH: two free windows one above the other, if there are any, but not the one above a
 * thread, which is reserved for it or will be; near the suspended thread, if they are free there.
 * ALLOCATE_LRU: the same, and if there are none, the place of the lowest window of the thread that
 * has not run for longest. What is done is to go to the window from which the rest of the switch
 * finds the place above it. */
#ifdef SCHEME_SP
#define BELOW_PLACE 2   /* the place is above the reserved window of the window gone to */
#else
#define BELOW_PLACE 1
#endif
allocate:
    clr %o0                     /* windows that are taken */
    mov 1, %o5
    ld [%g6 + OWNER_LAST], %o1
allocate_next:
    RUNS_AT_MOST(1, 0)
    ld [%g6 + %o1], %o2
    tst %o2
    be allocate_on
    nop
allocate_owner:
    ldd [%o2 + TCB_PSR], %o2
    orn %o0, %o3, %o0
    sll %o5, %o2, %o3           /* and the one above them, which is reserved or will be */
    ABOVE(%o3, %o4)
    or %o0, %o3, %o0
allocate_on:
    subcc %o1, 4, %o1
    bpos allocate_next
    nop
allocate_pairs:
    mov 2, %o1
    SHIFT_LAST(sll, %o1, %o1)
    sub %o1, 1, %o1
    andn %o1, %o0, %o0          /* free windows, */
    sll %o0, 1, %o1
    SHIFT_LAST(srl, %o0, %o2)
    or %o1, %o2, %o1
    and %o0, %o1, %o0           /* with another free one above */
    rd %psr, %o2
    sll %o5, %o2, %o2
    ABOVE(%o2, %o3)
    ABOVE(%o2, %o3)
    andcc %o0, %o2, %g0
    bne allocate_near
    tst %o0
allocate_elsewhere:
    bne allocate_bit
    clr %o1
allocate_full:
#ifdef ALLOCATE_LRU
    ld [%g6 + OWNER_LAST], %o1
    mov -1, %o0
lru_next:
    RUNS_AT_MOST(1, 0)
    ld [%g6 + %o1], %o2
    tst %o2
    be lru_on
    nop
lru_owner:
    ld [%o2 + TCB_STAMP], %o3
    cmp %o3, %o0
    bgeu lru_on
    nop
lru_older:
    mov %o3, %o0
    mov %o1, %o4
lru_on:
    subcc %o1, 4, %o1
    bpos lru_next
    nop
lru_place:                      /* %o4 / 4: the window below its lowest */
    srl %o4, 2, %o1
    ba allocate_place
    add %o1, BELOW_PLACE - 1, %o1
#else
    ba allocate_done
    nop
#endif
allocate_bit:
    RUNS_AT_MOST(1, 0)
    andcc %o0, 1, %g0
    bne allocate_found
    srl %o0, 1, %o0
allocate_bit_again:
    ba allocate_bit
    add %o1, 1, %o1
allocate_found:
    add %o1, BELOW_PLACE, %o1
allocate_place:
    ld [%g6 + OWNER_LAST], %o2
    srl %o2, 2, %o2
    subcc %o1, %o2, %o3
    bg,a allocate_go
allocate_around:
    sub %o3, 1, %o1
allocate_go:
    wr %g0, %wim
    rd %psr, %o2
    andn %o2, 31, %o2
    or %o2, %o1, %o2
    wr %o2, %psr
    nop
    nop
    nop
#ifdef SCHEME_SP
allocate_near:
#else
    ba allocate_done
    nop
allocate_near:                  /* one window on */
    wr %g0, %wim
    nop
    nop
    nop
    save
#endif
allocate_done:
