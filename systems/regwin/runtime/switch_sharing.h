/* What a context switch of both sharing schemes begins with: the running thread's state is put into its record.
 * Its windows stay, but for those above its newest one. */
#ifdef ALLOCATE_LRU
#define STAMP \
    ld [%g6 + OWNER_CLOCK], %o0; \
    add %o0, 1, %o0; \
    st %o0, [%g6 + OWNER_CLOCK]; \
    st %o0, [%g7 + TCB_STAMP];
#else
#define STAMP
#endif
#define LEAVE_WINDOWS \
    CHECK_STACK(%sp, %o0) \
    STAMP \
    rd %psr, %o0; \
    rd %wim, %o2; \
    mov 1, %o3; \
    sll %o3, %o0, %o3; \
    subcc %o2, %o3, %o4;    /* 1 from here down to the lowest window, */ \
    subx %o4, 0, %o4;       /* around the end */ \
    orn %o2, %o4, %o1;      /* the windows above are given up */ \
    std %o0, [%g7 + TCB_PSR]
