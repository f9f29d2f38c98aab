/* The window traps and the switch, for the includer's records (windows.h). It says besides
 *   RW_KEEP(record, t, u)    what else a switch puts into a record, before anything is changed; may use t, u
 *   RW_GIVE(record, t)       and takes from there, all that needs no floating point; may use t
 *   RW_STATE(state, t)       the state register as the record shall have it, from the current one
 *   RW_HEIR(state, t, u)       the state register that is taken from a record, before it is written
 *   RW_AFTER(record)         what comes after it is written
 * %g1 is the record in the last three. */
#include "windows.h"

/* By the calling convention only results and stack pointer live on; code that is not a compiler's, tail calls and frames that close
 * before their function ends need the others too. */
#define RW_IN_PLACE \
    mov %i0, %o0; mov %i1, %o1; mov %i2, %o2; mov %i3, %o3; \
    mov %i4, %o4; mov %i5, %o5; mov %i6, %o6; mov %i7, %o7; \
    RW_LOAD(%sp, 0)

    .section .text.rw_traps, "ax"
    .global rw_overflow, rw_underflow, rw_flush
rw_overflow:                    /* %l0: state */
    RW_MAKE_ROOM(overflow)
    wr %l0, %psr
    nop
    nop
    jmp %l1
    rett %l2

/* The caller's window is loaded in place of the callee's, and what the trapped restore would have added is added here. */
rw_underflow:                   /* %l0: state */
    rd %wim, %l3
    sub %l3, 1, %l4
    andcc %l3, %l4, %g0
    be underflow_alone
    sll %l3, 1, %l4
    ld [%l1], %l1
    srl %l1, 25, %l4
    cmp %l4, 0x40               /* its target is %g0 */
    bne underflow_adds
    wr %g0, %wim
    nop
    nop
    nop
    restore
    RW_IN_PLACE
    save
underflow_done:
    wr %l3, %wim
    wr %l0, %psr
    nop
    nop
    jmp %l2
    rett %l2 + 4

underflow_alone:                /* the window below comes back, and the restore is run again */
    srl %l3, RW_NWIN - 1, %l3
    wr %l4, %l3, %wim
    nop
    nop
    nop
    restore
    restore
    RW_LOAD(%sp, 0)
    save
    save
    wr %l0, %psr
    nop
    nop
    jmp %l1
    rett %l2

/* The operand with number %l6 * 8, if it is a global or an out register, goes to %l5: `way` is where to go on. */
#define NEAR(way) \
    set near_read, %l7; \
    add %l7, %l6, %l7; \
    jmpl %l7, %l7; \
    nop; \
way:
/* A local or an in, from the window below. %g1 and %g2 are in %l6 and %l7. */
#define FAR(way) \
    set far_read - 128, %g1; \
    add %g1, %g2, %g1; \
    restore; \
    jmpl %g1, %g1; \
    nop; \
way: \
    save

underflow_adds:                 /* globals and outs first, while nothing is changed */
    srl %l1, 14 - 3, %l6
    and %l6, 31 << 3, %l6
    cmp %l6, 15 << 3
    bgu first_far
    nop
    NEAR(first_near)
    mov %l5, %l4
first_far:
    srl %l1, 13, %l5
    andcc %l5, 1, %g0
    sll %l1, 19, %l5
    bne second_known
    sra %l5, 19, %l5            /* a constant */
    and %l1, 31, %l6
    sll %l6, 3, %l6
    cmp %l6, 15 << 3
    bgu second_known
    nop
    NEAR(second_near)
second_known:
    mov %g1, %l6
    mov %g2, %l7
    srl %l1, 14 - 3, %g2
    and %g2, 31 << 3, %g2
    cmp %g2, 15 << 3
    bleu first_known
    nop
    FAR(first_read)
    mov %g2, %l4
first_known:
    srl %l1, 13, %g2
    andcc %g2, 1, %g0
    bne operands_known
    and %l1, 31, %g2
    sll %g2, 3, %g2
    cmp %g2, 15 << 3
    bleu operands_known
    nop
    FAR(second_read)
    mov %g2, %l5
operands_known:
    add %l4, %l5, %l4
    restore
    RW_IN_PLACE
    save
    srl %l1, 25 - 3, %l5
    and %l5, 31 << 3, %l5
    cmp %l5, 15 << 3
    bgu result_far
    nop
    mov %l6, %g1
    mov %l7, %g2
    set near_written, %l7
    add %l7, %l5, %l7
    jmpl %l7, %l7
    nop
    ba underflow_done
    nop
result_far:
    set far_written - 128, %g1
    add %g1, %l5, %g1
    mov %l4, %g2
    restore
    jmpl %g1, %g1
    nop
    save
    mov %l6, %g1
    ba underflow_done
    mov %l7, %g2

/* Two words a register. The outs of the window below are the ins here. */
#define EACH_NEAR(of) \
    of(%g0); of(%g1); of(%g2); of(%g3); of(%g4); of(%g5); of(%g6); of(%g7); \
    of(%i0); of(%i1); of(%i2); of(%i3); of(%i4); of(%i5); of(%i6); of(%i7)
#define EACH_FAR(of) \
    of(%l0); of(%l1); of(%l2); of(%l3); of(%l4); of(%l5); of(%l6); of(%l7); \
    of(%i0); of(%i1); of(%i2); of(%i3); of(%i4); of(%i5); of(%i6); of(%i7)
#define NEAR_READ(reg) jmp %l7 + 8; mov reg, %l5
#define NEAR_WRITE(reg) jmp %l7 + 8; mov %l4, reg
#define FAR_READ(reg) jmp %g1 + 8; mov reg, %g2
#define FAR_WRITE(reg) jmp %g1 + 8; mov %g2, reg
near_read: EACH_NEAR(NEAR_READ)
near_written: EACH_NEAR(NEAR_WRITE)
far_read: EACH_FAR(FAR_READ)
far_written: EACH_FAR(FAR_WRITE)

/* ta 3: all windows of the running thread but the current one go to memory, as longjmp and debuggers expect. */
rw_flush:                       /* %l0: state */
    rd %wim, %l3
    mov %g1, %l4
    mov %g2, %l5
    mov %g3, %l6
    mov %g4, %l7
    wr %g0, %wim
    mov %l3, %g1
    mov %l0, %g2
    nop
    restore
flush_next:
    restore
    rd %psr, %g3
    srl %g1, %g3, %g4
    andcc %g4, 1, %g0           /* not the thread's */
    bne flush_stored
    mov 1, %g4
    sll %g4, %g3, %g4
    or %g1, %g4, %g1
    RW_STORE(%sp, 0)
    ba flush_next
    nop
flush_stored:                   /* below what was the lowest window */
    and %g3, 31, %g3
    sll %g3, 2, %g3
    set rw_owner, %g4
    st %g0, [%g4 + %g3]
    wr %g2, %psr
    nop
    nop
    nop
    sub %l3, 1, %g3
    andcc %l3, %g3, %g0
    restore
    restore                     /* the window that was flushed from is the lowest now */
    rd %psr, %g3
    be,a flush_alone
    mov 1, %g1
    and %g3, 31, %g3
    sll %g3, 2, %g3
    add %g4, %g3, %g3
    ld [%g4 + RW_RUNNING], %g4
    ba flush_back
    st %g4, [%g3]
flush_alone:
    sll %g1, %g3, %g1
flush_back:
    save
    save
    wr %g1, %wim
    mov %l4, %g1
    mov %l5, %g2
    mov %l6, %g3
    mov %l7, %g4
    wr %l0, %psr
    nop
    nop
    jmp %l2
    rett %l2 + 4

    .section .text.rw_switch, "ax"
    .global rw_switch, rw_drop, rw_store_others
/* If the next thread has windows, the running one leaves its own where they are. If not, it leaves them only where there is room above
 * them for the next one's frame and a reserved window, and while sharing pays; else it stores them, as the RTOS would, and the next
 * one takes their place. Sharing that does not pay ends: all windows go to memory, and the next 1, 3, 7, up to 1,023 times nobody
 * leaves any.
 * A thread that this module does not know (%o1 is not rw_running) stores all it has. */
rw_switch:                      /* %o0: the next thread, %o1: the running one; interrupts masked */
    set rw_owner, %o5
    ld [%o5 + RW_RUNNING], %o4
    RW_KEEP(%o1, %o2, %o3)
    std %o6, [%o1 + RW_O6]
    cmp %o4, %o1
    rd %psr, %o2
    bne switch_stores
    mov %o0, %g1
    ld [%g1 + RW_PSR], %o4
    sethi %hi(RW_RESIDENT), %g2
    andcc %o4, %g2, %g0
    be switch_decides
    rd %wim, %o3
    ld [%o5 + RW_CREDIT], %g3
    sra %g3, 1, %g3             /* it pays */
    st %g3, [%o5 + RW_CREDIT]
switch_leaves:                  /* %o4: the next thread's state */
    mov 1, %o0
    sll %o0, %o2, %o0
    subcc %o3, %o0, %g3         /* 1 from here down to the lowest window, */
    subx %g3, 0, %g3            /* around the end */
    orn %o3, %g3, %o3           /* the windows above are given up */
    RW_STATE(%o2, %g3)
    or %o2, %g2, %o2
    st %o2, [%o1 + RW_PSR]
    st %o3, [%o1 + RW_WIM]
    st %g1, [%o5 + RW_RUNNING]
    andcc %o4, %g2, %g0
    be switch_absent
    andn %o4, %g2, %o2
switch_resident:                /* %g1: the next thread, %o2: its state */
    RW_GIVE(%g1, %o4)
    ld [%g1 + RW_WIM], %o3
    RW_HEIR(%o2, %o4, %o5)
    wr %o3, %wim
    wr %o2, %psr
    nop
    nop
    nop
    RW_AFTER(%g1)
    retl
    nop

switch_decides:
    ld [%o5 + RW_PAUSE], %g3
    subcc %g3, 1, %g3
    bpos,a switch_stores
    st %g3, [%o5 + RW_PAUSE]
    ld [%o5 + RW_CREDIT], %g3
    sethi %hi(RW_CREDIT_POOR), %o0
    cmp %g3, %o0
    ble switch_ends_sharing
    and %o2, 31, %o0
    cmp %g3, -1
    be,a switch_looks
    st %g0, [%o5 + RW_PAUSED]   /* it has paid for long */
switch_looks:
    sub %o3, 1, %g3
    andcc %o3, %g3, %g0
    be switch_looks_alone
    nop
    /* The window above the reserved one, and the one above that: nobody's lowest? */
    subcc %o0, 1, %o0
    bneg,a switch_looks_on
    mov RW_NWIN - 1, %o0
switch_looks_on:
    sll %o0, 2, %g3
    ld [%o5 + %g3], %g3
    subcc %o0, 1, %o0
    bneg,a switch_looks_again
    mov RW_NWIN - 1, %o0
switch_looks_again:
    sll %o0, 2, %o0
    ld [%o5 + %o0], %o0
    orcc %g3, %o0, %g0
    bne switch_stores
    nop
switch_shares:
    ld [%o5 + RW_OTHERS], %g3
    add %g3, 1, %g3
    ba switch_leaves
    st %g3, [%o5 + RW_OTHERS]
switch_looks_alone:             /* is the lowest window far enough around the ring? */
    mov 1, %g3
    sll %g3, %o2, %g3
    srl %g3, 1, %o0
    sll %g3, RW_NWIN - 1, %g3
    or %o0, %g3, %g3
    andcc %g3, %o3, %g0
    bne switch_stores
    srl %g3, 1, %o0
    sll %g3, RW_NWIN - 1, %g3
    or %o0, %g3, %g3
    andcc %g3, %o3, %g0
    bne switch_stores
    clr %g3
switch_finds:                   /* below the lowest window: the thread is to be found there from now on */
    srl %o3, %g3, %o0
    cmp %o0, 1
    bne,a switch_finds
    add %g3, 1, %g3
    sll %g3, 2, %g3
    ba switch_shares
    st %o1, [%o5 + %g3]
switch_ends_sharing:
    ld [%o5 + RW_PAUSED], %g3
    add %g3, %g3, %g3
    or %g3, 1, %g3
    and %g3, RW_PAUSE_MAX, %g3
    st %g3, [%o5 + RW_PAUSED]
    st %g3, [%o5 + RW_PAUSE]
    set RW_CREDIT_FAIR, %g3
    st %g3, [%o5 + RW_CREDIT]
    mov %g1, %o0
    mov %o7, %o3
    mov %g4, %o4
    call rw_store_others
    nop
    mov %o3, %o7
    mov %o4, %g4
    ba switch_stores
    mov %o0, %g1

switch_absent:                  /* above the reserved window of the suspended thread */
    wr %g0, %wim
    mov %o5, %g2
    nop
    nop
    save
    RW_CLEAR_ABOVE(newest, %g1)
    RW_CLEAR_ABOVE(reserve, %g0)
    restore
switch_loads:                   /* %g1: the next thread, whose only window this is */
    rd %psr, %g3
    mov 1, %g4
    sll %g4, %g3, %g4
    wr %g4, -1, %wim
switch_loads_masked:
    RW_LOAD(%g1, RW_L0)
    ldd [%g1 + RW_O6], %o6
    RW_GIVE(%g1, %g4)
    ld [%g1 + RW_PSR], %o2
    RW_HEIR(%o2, %o4, %o5)
    andn %o2, 31, %o2
    and %g3, 31, %g3
    or %o2, %g3, %o2
    wr %o2, %psr
    nop
    nop
    nop
    RW_AFTER(%g1)
    retl
    nop

switch_stores:                  /* as the RTOS does: the newest frame into the record, the others to the stack */
    RW_STATE(%o2, %o3)
    st %o2, [%o1 + RW_PSR]
    RW_STORE(%o1, RW_L0)
    mov %o5, %g2
    rd %wim, %g3
    wr %g0, %wim
    nop
    nop
    nop
stores_next:
    restore
    rd %psr, %g4
    srl %g3, %g4, %o0           /* its outs are the ins of the window that was just stored */
    andcc %o0, 1, %g0
    bne switch_gives_up
    and %g4, 31, %g4
    RW_STORE(%sp, 0)
    ba stores_next
    nop

/* The running thread's windows are given up, and nothing of them is stored. */
rw_drop:                        /* %o0: the next thread; interrupts masked */
    mov %o0, %g1
    set rw_owner, %g2
    rd %wim, %g3
    wr %g0, %wim
    nop
    nop
    nop
drop_next:
    restore
    rd %psr, %g4
    srl %g3, %g4, %g4
    andcc %g4, 1, %g0
    be drop_next
    rd %psr, %g4
    and %g4, 31, %g4
switch_gives_up:                /* %g4: number of the window below the lowest one of who gives up */
    sub %g3, 1, %o0
    andcc %g3, %o0, %g0
    bne switch_inherits
    st %g1, [%g2 + RW_RUNNING]
switch_goes_on_alone:           /* nobody else has windows: the next thread gets all of them, with the same mask */
    wr %g3, %wim
    nop
    nop
    nop
    save
    ba switch_loads_masked
    rd %psr, %g3

switch_inherits:                /* the next thread gets that lowest window */
    ld [%g1 + RW_PSR], %g3
    set RW_RESIDENT, %o0
    andcc %g3, %o0, %g0
    sll %g4, 2, %o0
    add %g2, %o0, %o0           /* where that window is looked up */
    st %g0, [%o0]
    be inherits_absent
    ld [%g2 + RW_OTHERS], %o1
    sub %o1, 1, %o1
    st %o1, [%g2 + RW_OTHERS]
    save
    set RW_RESIDENT, %o2
    ba switch_resident
    andn %g3, %o2, %o2
inherits_absent:
    tst %o1
    be,a inherits_alone
    mov 1, %g3
    st %g1, [%o0]
    ba switch_loads
    save
inherits_alone:                 /* nobody else has windows: all are the next thread's */
    sll %g3, %g4, %g3
    wr %g3, %wim
    nop
    nop
    nop
    save
    ba switch_loads_masked
    rd %psr, %g3

/* void rw_store_others(void): all windows of suspended threads go to their stacks and records. Interrupts masked. */
rw_store_others:
    set rw_owner, %g2
    rd %psr, %g3
    rd %wim, %g4
    std %g4, [%g2 + RW_KEPT]    /* and %g5 */
    st %g3, [%g2 + RW_KEPT + 8]
    mov (RW_NWIN - 1) * 4, %g1
    wr %g0, %wim
    st %g0, [%g2 + RW_OTHERS]
others_next:
    ld [%g2 + %g1], %g4
    ld [%g2 + RW_RUNNING], %g5
    tst %g4
    be others_on
    cmp %g4, %g5
    be others_on
    srl %g1, 2, %g5
    st %g0, [%g2 + %g1]
    subcc %g5, 1, %g5
    bneg,a others_lowest
    mov RW_NWIN - 1, %g5
others_lowest:
    andn %g3, 31, %g3
    or %g3, %g5, %g3
    wr %g3, %psr
    nop
    nop
    nop
others_window:
    rd %psr, %g3
    ld [%g4 + RW_PSR], %g5
    xor %g5, %g3, %g5
    andcc %g5, 31, %g0
    be others_newest
    nop
    RW_STORE(%sp, 0)
    ba others_window
    save
others_newest:
    RW_STORE(%g4, RW_L0)
    RW_FORGET_WINDOWS(%g4, %l0, %l1)
others_on:
    subcc %g1, 4, %g1
    bpos others_next
    nop
    ld [%g2 + RW_KEPT + 8], %g3
    ldd [%g2 + RW_KEPT], %g4
    wr %g4, %wim
    wr %g3, %psr
    nop
    nop
    nop
    retl
    nop

    .section .data.rw_owner, "aw"
    .align 8
    .global rw_owner, rw_running, rw_others, rw_boot
rw_owner: .skip 128             /* for window q: the thread whose lowest window is q-1 */
rw_running: .word rw_boot, 0
rw_kept: .skip 24
    .word RW_CREDIT_FAIR, 0, 0
rw_others: .word 0              /* suspended threads with windows */
rw_boot: .skip 128              /* whoever runs before the first switch */
