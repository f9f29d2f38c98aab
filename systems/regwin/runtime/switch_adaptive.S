/* Context switch that chooses, for each switch, between leaving the windows of the old thread where
 * they are and storing them. A thread is either alone in the registers, with the mask and the handlers of
 * the scheme without sharing, or it shares them, with those of the scheme with private reserved windows.
 *
 * Leaves: if the next thread has windows; or if after the old thread's reserved window there is room for
 * the next one's frame, a call and a reserved window, and the old thread is not refused. A neighbour makes room with
 * its lowest windows; one that would keep hardly any has a second chance, if it has run since it was looked at here
 * before, but each 64th gets none.
 * Pays: while the account of sharing (adaptive.h) is above CREDIT_POOR. It is kept in cycles, by what each thread is
 * known to store where nothing is shared.
 * Refuses: a thread that lost a window before it came back 1, 3, 7, up to 63 times; only up
 * to 3 times while sharing pays. A thread that did come back to its windows starts anew if sharing pays.
 * Ends: if sharing does not pay, nobody leaves windows, and those that are left are stored, a thread at a
 * switch. After that, 3, 15, 63, up to 4095 times nobody leaves windows; then there is a trial. */
#include "window.h"
#include "adaptive.h"
    .section .text.switch, "ax"
    .global SWITCH_LEAVE, SWITCH_FLUSH, thr_leave, thr_to, thr_to_left, thr_to_absent, thr_to_inherit
SWITCH_LEAVE:
    CHECK_STACK(%sp, %o0)
    subcc %g4, 1, %g4           /* alone: counts a pause; shared: costs the account 1 */
    bpos lone_flush
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
lone_look:                      /* alone, the pause is over */
    ld [%g6 + OWNER_SAMPLES], %o2
    subcc %o2, 1, %o2
    bpos lone_sample
    sll %o3, 2, %o3
lone_room:                      /* is there room above? */
    add %o3, OWNER_ROOM, %o2
    ld [%g6 + %o2], %o2
    andcc %o2, %o1, %g0
    be lone_leave
    mov %o1, %g2
lone_narrow:                    /* 1, 3, 7, up to 63 switches later again */
    ld [%g6 + OWNER_NARROW], %g4
    add %g4, %g4, %g4
    or %g4, 1, %g4
    and %g4, REFUSALS_MAX, %g4
    st %g4, [%g6 + OWNER_NARROW]
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
    ld [%g7 + TCB_NEXT], %g5
    FILL_SOME(%sp)
    retl
    FILL_REST(%sp)

lone_sample:                    /* %o2: so many samples more */
    st %o2, [%g6 + OWNER_SAMPLES]
    srl %o1, 1, %o2
    SHIFT_LAST(sll, %o1, %o1)
    or %o1, %o2, %g2
    std %o6, [%g7 + TCB_SP]
    STORES_COUNTED(sample_next, sample_again)
sample_gains:
    GAINS(%o0)
    ba lone_load
    clr %g4

resident:
    ld [%g5 + TCB_GAIN], %g1
    wr %g2, %psr
    wr %g3, %wim
    add %g4, %g1, %g4           /* it pays; at most -1 */
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
    restore %g1, GAIN, %g1      /* what they are worth */
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
    st %g0, [%g6 + OWNER_NARROW]
    GAINS(%g2)
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
    mov 32, %o5                 /* more than there are */

look_neighbour:                 /* %g3: a thread with its lowest window in the way, %o3: the word of its owner */
    cmp %g3, %g7
    be shared_flush
    ld [%g3 + TCB_PSR], %g2
neighbour_other:
    sethi %hi(0x0f000000), %o4
    andcc %g2, %o4, %g0
    be neighbour_stale
    andn %g2, %o4, %g2
neighbour_fresh:                /* not looked at yet: how far away is its newest window? */
    and %o0, 31, %o4
    and %g2, 31, %o5
    subcc %o4, %o5, %o4
    bpos neighbour_above
    sll %o4, 2, %o4
neighbour_around:
    ld [%g6 + OWNER_LAST], %o5
    add %o4, 4, %o4
    add %o4, %o5, %o4
neighbour_above:
    cmp %o4, 4 * NEAR
    bg neighbour_stale
    ld [%g6 + OWNER_SPARED], %o5
neighbour_near:
    sethi %hi(SPARED_STEP), %o4
    addcc %o5, %o4, %o5
    bcs neighbour_stale
    st %o5, [%g6 + OWNER_SPARED]
neighbour_spared:
    ba shared_flush
    st %g2, [%g3 + TCB_PSR]
neighbour_stale:                /* its lowest windows go, up to the fourth above this one */
    std %o0, [%g6 + OWNER_SCRATCH]
    CREDIT_COUNTS
    bl neighbour_goes           /* or all of them: this window is none of its */
    mov %o0, %g1
neighbour_shrinks:
    ld [%g6 + OWNER_LAST], %o5
    and %o0, 31, %o4
    subcc %o4, 4, %g1
    bpos neighbour_goes
    srl %o5, 2, %o5
neighbour_end:
    add %g1, %o5, %g1
    add %g1, 1, %g1
neighbour_goes:
    st %g0, [%g6 + %o3]
    wr %g0, %wim
    srl %o3, 2, %o3
    andn %o0, 31, %o4
    or %o4, %o3, %o4
    wr %o4, %psr
    nop
    nop
    nop
evict_next:                     /* not the current window, and not the reserved ones of both */
    RUNS_AT_MOST(1, -3)
    STORES_WINDOW
    save
    SPILL(%sp)
    rd %psr, %l0
    xor %l0, %g2, %l1
    andcc %l1, 31, %g0
    be evict_last
    mov 1, %l1
evict_on:                       /* not its newest one */
    ld [%g3 + TCB_WIM], %l2
    sll %l1, %l0, %l1
    or %l2, %l1, %l2
    xor %l0, %g1, %l1
    andcc %l1, 31, %g0
    bne evict_next
    st %l2, [%g3 + TCB_WIM]
evict_more:                     /* it keeps the others */
    and %l0, 31, %l0
    sll %l0, 2, %l0
    st %g3, [%g6 + %l0]
    ba evict_counts
    mov 1, %g1
evict_last:
    std %o6, [%g3 + TCB_SP]
    st %g0, [%g3 + TCB_PSR]
    ld [%g6 + OWNER_OTHERS], %l0
    clr %g1
    sub %l0, 1, %l0
    st %l0, [%g6 + OWNER_OTHERS]
evict_counts:
    CREDIT_COUNTS
    LOST(evict, %g2, %g3, %l0, %l1)
    sub %g4, COST_EVICTED - COST_LOST, %g4
    ldd [%g6 + OWNER_SCRATCH], %g2
    wr %g2, %psr
    wr %g3, %wim
    ld [%g6 + OWNER_OTHERS], %g2
    nop
    nop
    CREDIT_COUNTS
    bl neighbour_last
    mov %g2, %o2
neighbour_gone:                 /* or it keeps some, and there is room */
    tst %g1
    bne shared_leave
    and %o0, 31, %o3
neighbour_again:
    sll %o3, 2, %o3
    ba shared_room
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
    CREDIT_COUNTS
flush_shared:                   /* no neighbour goes here, so nothing else keeps the account from falling on and on */
    bl,a shared_flush
flush_least:
    mov CREDIT_LEAST, %g4
shared_flush:                   /* %o1: the mask */
    srl %o1, 1, %o2
    SHIFT_LAST(sll, %o1, %o1)
    or %o1, %o2, %g2
    std %o6, [%g7 + TCB_SP]
    STORES_COUNTED(flush_next, flush_again)
shared_stored:
    ld [%g7 + TCB_PSR], %o0
    sub %g4, COST_STORED, %g4
    st %g0, [%g7 + TCB_PSR]
    cmp %g4, CREDIT_RICH
    bg,a inherit                /* it has paid */
shared_rich:
    st %g0, [%g6 + OWNER_PAUSED]
shared_counts:
    tst %o0                     /* had it no other windows than it would have alone? */
    bne inherit
    nop
shared_gains:
    GAINS(%o0)
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
    ALONE(alone, %o0, %o1)
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
