/* Context switch that chooses, for each switch, between leaving the windows of the old thread where
 * they are and storing them. A thread is either alone in the registers, with the mask and the handlers of
 * the scheme without sharing, or it shares them, with those of the scheme with private reserved windows.
 *
 * Leaves: if the next thread has windows; or if after the old thread's reserved window there is room for
 * the next one's frame, a call and a reserved window, and the old thread is not refused. A neighbour that
 * has not run since it was looked at here before makes room, and each 64th one that has.
 * Pays: a switch to a thread with windows saves what storing and loading them all takes, a lost window costs two traps. The
 * credit adds one and takes the other, by the windows of the thread that began to share.
 * Refuses: a thread that lost a window before it came back, or found no room, 1, 3, 7, up to 63 times; only up
 * to 3 times while sharing pays. A thread that did come back to its windows starts anew if sharing pays.
 * Ends: if sharing does not pay, nobody leaves windows, and those that are left are stored, a thread at a
 * switch. After that, 3, 15, 63, up to 1023 times nobody leaves windows who would try; then there is a trial. */
#include "window.h"
#include "adaptive.h"
    .section .text.switch, "ax"
    .global SWITCH_LEAVE, SWITCH_FLUSH, thr_leave, thr_to, thr_to_left, thr_to_absent, thr_to_inherit
SWITCH_LEAVE:
    CHECK_STACK(%sp, %o0)
    subcc %g4, 1, %o2           /* alone, and refused */
    bpos lone_refused
    rd %wim, %o1
block_decides:
    ldd [%g5 + TCB_PSR], %g2
    rd %psr, %o0
    tst %g2
    bne,a resident
resident_stores:
    std %o0, [%g7 + TCB_PSR]
absent:
    ld [%g6 + OWNER_OTHERS], %o2
    tst %o2
    bge shared_absent
    and %o0, 31, %o3
lone_look:                      /* alone */
    ld [%g6 + OWNER_PAUSE], %o2
    subcc %o2, 1, %o2
    bpos lone_pause
    sll %o3, 2, %o3
lone_room:                      /* is there room above? */
    add %o3, OWNER_ROOM, %o2
    ld [%g6 + %o2], %o2
    andcc %o2, %o1, %g0
    be lone_leave
    mov %o1, %g2
lone_narrow:
    ld [%g7 + TCB_PEN], %o2
    add %o2, %o2, %o2
    or %o2, 1, %o2
    and %o2, REFUSALS_MAX, %o2
    st %o2, [%g7 + TCB_PEN]
lone_refused:                   /* %o2: so many times more */
    st %o2, [%g7 + TCB_REFUSE]
lone_flush:
    srl %o1, 1, %o2
    SHIFT_LAST(sll, %o1, %o1)
    or %o1, %o2, %g2            /* bit w: window w is the thread's oldest */
    std %o6, [%g7 + TCB_SP]
    STORES_OWN(block_next, block_again)
lone_load:
    DROP_FPU(lone_load, %g2, %g3)
    mov %g5, %g7
    ldd [%g7 + TCB_SP], %o6
thr_to:
    ldd [%g7 + TCB_REFUSE], %g4
    FILL_SOME(%sp)
    retl
    FILL_REST(%sp)

lone_pause:
    ba lone_narrow
    st %o2, [%g6 + OWNER_PAUSE]

resident:
    wr %g2, %psr
    wr %g3, %wim
    add %g4, CREDIT_GAIN, %g4   /* it pays; at most -1 */
    sra %g4, 31, %g1
    orn %g4, %g1, %g4
    mov %g5, %g7
    retl
thr_to_left:
    ld [%g7 + TCB_NEXT], %g5

lone_leave:                     /* %g2: the mask, its one bit below the lowest window */
    wr %g0, %wim
    sll %o0, 4, %o0             /* not come back to yet */
    srl %o0, 4, %o0
    mov 1, %o2
    sll %o2, %o0, %o2
    subcc %o1, %o2, %o3         /* 1 for each window of the thread */
    subx %o3, 0, %o3
    orn %g0, %o3, %o1
    std %o0, [%g7 + TCB_PSR]
    clr %g1
lone_down:                      /* the thread's: three above it and the reserved one are not */
    RUNS_AT_MOST(1, -4)
    restore %g1, 1, %g1         /* so many windows */
    rd %psr, %g3
    srl %g2, %g3, %g4
    andcc %g4, 1, %g0
    be lone_down
    and %g3, 31, %g3
lone_owns:
    sll %g3, 2, %g3
    st %g7, [%g6 + %g3]
    ld [%g7 + TCB_PSR], %g3
    HANDLERS(trap_table, %g2)
    wr %g3, %psr
    set loss_of, %g2
    ldub [%g2 + %g1], %g2
    st %g2, [%g6 + OWNER_LOSS]
    mov 1, %g2
    st %g2, [%g6 + OWNER_OTHERS]
    ba enter
    ld [%g6 + OWNER_CREDIT], %g4

shared_absent:                  /* %o2: other threads with windows, %o3: number of this window */
    ld [%g7 + TCB_REFUSE], %o4
    subcc %o4, 1, %o4
    bneg shared_look
    sll %o3, 2, %o3
shared_refused:
    ba shared_flush
    st %o4, [%g7 + TCB_REFUSE]

shared_look:
    CREDIT_COUNTS
    bl shared_poor
    add %o3, OWNER_ROOM, %o4
shared_room:                    /* each of the three above may be somebody's */
    RUNS_AT_MOST(0, 4)
    ld [%g6 + %o4], %o4
    andcc %o4, %o1, %g0         /* room in what the thread has already */
    be shared_leave
    mov 3, %o5
look_next:                      /* three each time, or around the ring to the running thread */
    RUNS_AT_MOST(1, 11)
    subcc %o3, 4, %o3
    bneg,a look_on
look_around:
    ld [%g6 + OWNER_LAST], %o3
look_on:
    ld [%g6 + %o3], %g3
    tst %g3
    bne look_neighbour
    subcc %o5, 1, %o5
look_free:
    bne look_next
    nop
shared_leave:                   /* %o2: other threads with windows */
    sll %o0, 4, %o0
    add %o2, 1, %o2
    srl %o0, 4, %o0
    st %o2, [%g6 + OWNER_OTHERS]
    mov 1, %o3
    sll %o3, %o0, %o3
    subcc %o1, %o3, %o4         /* 1 from here down to the lowest window, */
    subx %o4, 0, %o4            /* around the end */
    orn %o1, %o4, %o1
    std %o0, [%g7 + TCB_PSR]
    wr %g0, %wim
    nop
    nop
    nop
enter:                          /* the window above the reserved one of the suspended thread */
    save
    mov %g5, %g7
    rd %psr, %g2
    and %g2, 31, %g2
    sll %g2, 2, %g2
    st %g7, [%g6 + %g2]
    save
    rd %psr, %g2
    mov 1, %g3
    sll %g3, %g2, %g3
    srl %g3, 1, %g2             /* the frame and a call */
    or %g2, %g3, %g2
    SHIFT_LAST(sll, %g3, %g3)
    or %g2, %g3, %g2
    wr %g2, -1, %wim
    DROP_FPU(enter, %g2, %g3)
    LOADED(thr_to_absent)

shared_poor:                    /* it does not pay: whoever is next, wherever, makes room */
    tst %o2
    be shared_flush             /* nobody is left */
    nop
shared_others:
    ba look_next
    mov 32, %o5

look_neighbour:                 /* %g3: a thread with its lowest window in the way */
    cmp %g3, %g7
    be shared_flush
    ld [%g3 + TCB_PSR], %g2
neighbour_other:
    sethi %hi(0x0f000000), %o4
    andcc %g2, %o4, %g0
    be neighbour_stale
    andn %g2, %o4, %g2
neighbour_fresh:                /* looked at once */
    ld [%g6 + OWNER_SPARED], %o5
    sethi %hi(SPARED_STEP), %o4
    addcc %o5, %o4, %o5
    bcs neighbour_stale
    st %o5, [%g6 + OWNER_SPARED]
neighbour_spared:
    ba shared_flush
    st %g2, [%g3 + TCB_PSR]
neighbour_stale:                /* its windows go */
    st %g0, [%g6 + %o3]
    wr %g0, %wim
    sub %o2, 1, %o2
    st %o2, [%g6 + OWNER_OTHERS]
    std %o0, [%g7 + TCB_PSR]
    srl %o3, 2, %o3
    andn %o0, 31, %o0
    or %o0, %o3, %o0
    wr %o0, %psr
    nop
    nop
    nop
evict_next:                     /* not the current window, and not the reserved ones of both */
    RUNS_AT_MOST(1, -3)
    STORES_WINDOW
    save
    SPILL(%sp)
    rd %psr, %l0
    xor %l0, %g2, %l0
    andcc %l0, 31, %g0
    bne evict_next
    nop
evict_last:
    std %o6, [%g3 + TCB_SP]
    st %g0, [%g3 + TCB_PSR]
    CREDIT_COUNTS
    LOST(evict, %g2, %g3, %l0, %l1)
    ldd [%g7 + TCB_PSR], %g2
    wr %g2, %psr
    wr %g3, %wim
    nop
    nop
    mov %g2, %o0
    and %g2, 31, %o3
    sll %o3, 2, %o3
    CREDIT_COUNTS
    bge shared_room
    add %o3, OWNER_ROOM, %o4
neighbour_last:                 /* one at a switch */
    ba shared_flush
    nop

SWITCH_FLUSH:                /* leaves no window after */
    CHECK_STACK(%sp, %o0)
    rd %wim, %o1
    ld [%g6 + OWNER_OTHERS], %o2
    tst %o2
    bneg lone_flush
    nop
shared_flush:                   /* %o1: the mask */
    srl %o1, 1, %o2
    SHIFT_LAST(sll, %o1, %o1)
    or %o1, %o2, %g2
    std %o6, [%g7 + TCB_SP]
    st %g0, [%g7 + TCB_PSR]
    STORES_OWN(flush_next, flush_again)
inherit:                        /* in the lowest window of a thread that goes; %g3 and %o0 are free */
    rd %psr, %o0
    and %o0, 31, %o0
    ld [%g6 + OWNER_LAST], %o1
    sll %o0, 2, %o0
    cmp %o0, %o1
    be,a inherit_below
inherit_around:
    mov -4, %o0
inherit_below:
    add %o0, 4, %o0             /* the word of its owner */
    ldd [%g5 + TCB_PSR], %g2
    ld [%g6 + OWNER_OTHERS], %o1
    tst %g2
    bne,a inherit_resident
inherit_gone:
    st %g0, [%g6 + %o0]
inherit_absent:
    tst %o1
    be inherit_alone
    mov %g5, %g7
inherit_shared:
    st %g7, [%g6 + %o0]
    DROP_FPU(inherit_shared, %g2, %g3)
    LOADED(thr_to_inherit)

inherit_resident:
    sub %o1, 1, %o1
    ba resident
    st %o1, [%g6 + OWNER_OTHERS]

inherit_alone:                  /* nobody else is left */
    st %g0, [%g6 + %o0]
    ALONE(alone, %o0)
    rd %psr, %g2
    mov 1, %g3
    sll %g3, %g2, %g2
    sll %g2, 1, %g3
    SHIFT_LAST(srl, %g2, %g2)
    or %g2, %g3, %g2
    wr %g2, %wim
    HANDLERS(trap_table_lone, %g2)
    ba lone_load
    nop

thr_leave:
    ld [%g6 + OWNER_OTHERS], %o2
    tst %o2
    bneg lone_load
    nop
leave_shared:
    ba inherit
    nop

/* What a lost window takes from the credit, by the windows of the thread that began to share. To store, load and trap for w windows
 * costs some 2w - 1 times a fourth of what the two traps for a lost one do. */
#define LOSS_OF(windows) (2 * 4 * CREDIT_GAIN / (2 * (windows) - 1) + 1) / 2
    .section .rodata
loss_of:
    .byte 0
    .byte LOSS_OF(1), LOSS_OF(2), LOSS_OF(3), LOSS_OF(4)
    .byte LOSS_OF(5), LOSS_OF(6), LOSS_OF(7), LOSS_OF(8)
    .byte LOSS_OF(9), LOSS_OF(10), LOSS_OF(11), LOSS_OF(12)
    .byte LOSS_OF(13), LOSS_OF(14), LOSS_OF(15), LOSS_OF(16)
    .byte LOSS_OF(17), LOSS_OF(18), LOSS_OF(19), LOSS_OF(20)
    .byte LOSS_OF(21), LOSS_OF(22), LOSS_OF(23), LOSS_OF(24)
    .byte LOSS_OF(25), LOSS_OF(26), LOSS_OF(27), LOSS_OF(28)
    .byte LOSS_OF(29), LOSS_OF(30), LOSS_OF(31)
