/* What an RTOS for SPARC does by itself, written anew for the mock kernels: one bit in the mask, windows of one thread at a time in
 * the register file, all of them stored at a switch. RECORD_L0 is where a record has %l0, with the
 * ins after it. */
#define STORE(at, by) \
    std %l0, [at + by]; std %l2, [at + by + 8]; std %l4, [at + by + 16]; std %l6, [at + by + 24]; \
    std %i0, [at + by + 32]; std %i2, [at + by + 40]; std %i4, [at + by + 48]; std %i6, [at + by + 56]
#define LOAD(at, by) \
    ldd [at + by], %l0; ldd [at + by + 8], %l2; ldd [at + by + 16], %l4; ldd [at + by + 24], %l6; \
    ldd [at + by + 32], %i0; ldd [at + by + 40], %i2; ldd [at + by + 48], %i4; ldd [at + by + 56], %i6

/* The oldest window goes, with the mask in %l3 and %l4 free; from the window above and back. */
#define OLDEST_GOES \
    srl %l3, 1, %l4; \
    sll %l3, NWIN - 1, %l3; \
    mov %g1, %l5; \
    or %l3, %l4, %g1; \
    save; \
    wr %g1, %wim; \
    STORE(%sp, 0); \
    restore; \
    mov %l5, %g1

/* The frame below comes back, the mask in %l3. */
#define FRAME_BACK(restores, saves) \
    sll %l3, 1, %l4; \
    srl %l3, NWIN - 1, %l3; \
    wr %l4, %l3, %wim; \
    nop; nop; nop; \
    restores; \
    LOAD(%sp, 0); \
    saves

#define TRAPS(overflow, underflow, flush) \
overflow: \
    rd %wim, %l3; \
    OLDEST_GOES; \
    wr %l0, %psr; nop; nop; \
    jmp %l1; \
    rett %l2; \
underflow: \
    rd %wim, %l3; \
    FRAME_BACK(restore; restore, save; save); \
    jmp %l1; \
    rett %l2; \
flush: \
    mov %g1, %l4; mov %g2, %l5; mov %g3, %l6; mov %g4, %l7; \
    mov %l0, %g1; \
    rd %wim, %g2; \
    wr %g0, %wim; \
    nop; nop; nop; \
    restore; \
77: restore; \
    rd %psr, %g3; \
    srl %g2, %g3, %g4; \
    andcc %g4, 1, %g0; \
    bne 78f; \
    nop; \
    STORE(%sp, 0); \
    ba 77b; \
    nop; \
78: wr %g1, %psr; nop; nop; nop; \
    restore; restore; \
    rd %psr, %g3; \
    mov 1, %g4; \
    sll %g4, %g3, %g4; \
    save; save; \
    wr %g4, %wim; \
    mov %l4, %g1; mov %l5, %g2; mov %l6, %g3; mov %l7, %g4; \
    wr %l0, %psr; nop; nop; \
    jmp %l2; \
    rett %l2 + 4

/* All windows but the current one are stored; the mask is the bit below it then. Traps off; uses %g1 to %g4. */
#define STORE_ALL \
    rd %psr, %g1; \
    rd %wim, %g2; \
    wr %g0, %wim; \
    nop; nop; nop; \
75: restore; \
    rd %psr, %g3; \
    srl %g2, %g3, %g4; \
    andcc %g4, 1, %g0; \
    bne 76f; \
    nop; \
    STORE(%sp, 0); \
    ba 75b; \
    nop; \
76: wr %g1, %psr; nop; nop; nop; \
    restore; \
    rd %psr, %g3; \
    mov 1, %g4; \
    sll %g4, %g3, %g4; \
    save; \
    wr %g4, %wim

/* In the window of an interrupt: makes it valid. */
#define ENTER_INTERRUPT \
    rd %wim, %l4; \
    srl %l4, %l0, %l5; \
    andcc %l5, 1, %g0; \
    be 74f; \
    mov %l3, %l6; \
    mov %l4, %l3; \
    OLDEST_GOES; \
    mov %l6, %l3; \
74:

/* The way back, with what is to be the state in %l0, pc and npc in %l1 and %l2, the frame in %g1 and traps off. */
#define LEAVE_INTERRUPT \
    rd %psr, %l3; \
    and %l3, 31, %l3; \
    andn %l0, 31, %l0; \
    andn %l0, 32, %l0; \
    or %l0, %l3, %l0; \
    add %l3, 1, %l4; \
    cmp %l4, NWIN; \
    be,a 73f; \
    clr %l4; \
73: rd %wim, %l3; \
    srl %l3, %l4, %l5; \
    andcc %l5, 1, %g0; \
    be 72f; \
    nop; \
    FRAME_BACK(restore, save); \
72: wr %l0, %psr; nop; nop; nop
