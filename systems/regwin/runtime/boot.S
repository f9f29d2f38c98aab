/* Boot: the trap table, the number of windows, the first thread. */
#include "window.h"
#ifdef SCHEME_ADAPTIVE
#include "adaptive.h"
#endif

#define BAD ba bad_trap; nop; nop; nop
#define LEVEL(n) rd %psr, %l0; ba interrupt; mov n, %l3; nop;
/* The vectors between those of the windows and the flush trap. */
#ifdef PREEMPT
#define VECTORS_TO_FLUSH \
    .rept 0x11 - 7; BAD; .endr; \
    LEVEL(1) LEVEL(2) LEVEL(3) LEVEL(4) LEVEL(5) LEVEL(6) LEVEL(7) \
    LEVEL(8) LEVEL(9) LEVEL(10) LEVEL(11) LEVEL(12) LEVEL(13) LEVEL(14) \
    .rept 0x83 - 0x1f; BAD; .endr
#else
#define VECTORS_TO_FLUSH .rept 0x83 - 7; BAD; .endr
#endif

/* The vectors between reset and those of the windows. */
#ifdef FPU
#ifdef SCHEME_FLAT
#error "FPU is not supported with SCHEME_FLAT"
#endif
#define VECTORS_TO_WINDOWS(name) .rept 3; BAD; .endr; name: rd %psr, %l0; sethi %hi(fpu_owner), %l4; ba fpu_disabled; sethi %hi(PSR_EF), %l3
#else
#define VECTORS_TO_WINDOWS(name) .rept 4; BAD; .endr
#endif

    .section .text.traps, "ax"
    .global trap_table, _start
trap_table:
    ba _start; nop; nop; nop                    /* 0x00 reset */
    VECTORS_TO_WINDOWS(vector_fpu)
    .global vector_overflow, vector_underflow
vector_overflow:
#if defined(SCHEME_NS) || defined(SCHEME_FLAT)
    rd %wim, %g2; srl %g2, 1, %g3; ba overflow; SHIFT_LAST(sll, %g2, %g2) /* 0x05 */
vector_underflow:
    rd %wim, %g2; sll %g2, 1, %g3; ba underflow; SHIFT_LAST(srl, %g2, %g2) /* 0x06 */
#else
    rd %psr, %l0; rd %wim, %l3; ba overflow; and %l0, 31, %l4 /* 0x05 */
vector_underflow:
#ifdef SCHEME_ADAPTIVE
    rd %psr, %g3; ld [%l1], %g2; ba underflow; srl %g2, 25, %l4 /* 0x06 */
#else
    rd %psr, %l0; rd %wim, %l3; ba underflow; ld [%l1], %l4 /* 0x06 */
#endif
#endif
vector_rest:
    VECTORS_TO_FLUSH
    .global vector_flush
vector_flush:
    rd %psr, %l0; rd %wim, %l3; ba flush_trap; nop /* 0x83: ta 3 */
vector_others:
    .rept 256 - 0x84
    BAD
    .endr

#ifdef SCHEME_ADAPTIVE
    .global trap_table, trap_table_lone, vector_overflow_lone, vector_underflow_lone, vector_flush_lone
trap_table_lone:                                /* while one thread has all windows */
    BAD
    VECTORS_TO_WINDOWS(vector_fpu_lone)
vector_overflow_lone:
    rd %wim, %g2; srl %g2, 1, %g3; ba lone_overflow; SHIFT_LAST(sll, %g2, %g2)
vector_underflow_lone:
    rd %wim, %g2; sll %g2, 1, %g3; ba lone_underflow; SHIFT_LAST(srl, %g2, %g2)
vector_rest_lone:
    VECTORS_TO_FLUSH
vector_flush_lone:
    rd %psr, %l0; rd %wim, %l3; ba lone_flush_trap; nop
vector_others_lone:
    .rept 256 - 0x84
    BAD
    .endr
#endif

    .section .text.boot, "ax"
_start:
    wr %g0, 0x80, %psr      /* supervisor, traps off, window 0 */
    nop; nop; nop
    set __bss_start, %g2
    set __bss_end, %g3
0:  cmp %g2, %g3
    bgeu 0f
    nop
    st %g0, [%g2]
    ba 0b
    add %g2, 4, %g2
0:  wr %g0, -1, %wim        /* windows that are not there read as 0 */
    nop; nop; nop
    rd %wim, %g2
    clr %g3
1:  srl %g2, 1, %g2         /* %g3: the number of windows less one */
    tst %g2
    bne,a 1b
    add %g3, 1, %g3
    cmp %g3, 3
    bl too_few_windows
    nop
    set window_last, %g2
    st %g3, [%g2]
    set __rotations, %g2    /* the rotations learn the number of windows */
    set __rotations_end, %g4
2:  cmp %g2, %g4
    be 3f
    nop
    ld [%g2], %o0
    ld [%o0], %o1
    or %o1, %g3, %o1
    st %o1, [%o0]
    flush %o0
    ba 2b
    add %g2, 4, %g2
3:  set window_owner, %g6
    set window_last, %g2
    ld [%g2], %g2
    sll %g2, 2, %g3
    st %g3, [%g6 + OWNER_LAST]
#ifdef SCHEME_ADAPTIVE
    mov -1, %o0
    st %o0, [%g6 + OWNER_OTHERS]
    mov CREDIT_TRIAL, %o0
    st %o0, [%g6 + OWNER_CREDIT]
    mov 7, %o0
    sub %g2, 2, %o1
    sll %o0, %o1, %o0       /* the windows above window 0 */
    mov OWNER_ROOM, %o1
4:  st %o0, [%g6 + %o1]
    srl %o0, %g2, %o2
    and %o2, 1, %o2
    add %o0, %o0, %o0
    or %o0, %o2, %o0
    add %o1, 4, %o1
    cmp %o1, OWNER_ROOM_END
    bne 4b
    nop
    clr %g4
    set trap_table_lone, %o0
#else
    set trap_table, %o0
#endif
    wr %o0, %tbr
    set thr_boot, %g7
    set thr_idle, %g5
#if defined(SCHEME_NS) || defined(SCHEME_FLAT) || defined(SCHEME_ADAPTIVE)
    wr %g0, 2, %wim         /* window 1 is reserved, the one below window 0 */
#else
    wr %g0, -2, %wim        /* window 0 is the only one of this thread */
    st %g7, [%g6 + 4]
#endif
    set boot_stack_end - 96, %sp
    clr %fp
    wr %g0, 0xa0, %psr      /* traps on */
    nop; nop; nop
    .global boot_calls
boot_calls:                     /* in C from here; the simulator begins here */
    call thr_begin
    nop
    call main
    nop
#ifdef PREEMPT
    call irq_lock
    nop
#endif
    ba thr_leave            /* the boot thread ends; the ready queue begins */
    nop

too_few_windows:
    wr %g0, %wim
    nop; nop; nop
    set boot_stack_end - 96, %sp
    call too_few_windows_report
    nop

    .global bad_trap
bad_trap:
    rd %tbr, %l3
    wr %g0, %wim
    set boot_stack_end - 96, %sp
    srl %l3, 4, %o0
    and %o0, 255, %o0
    mov %l1, %o1
    call bad_trap_report
    mov %i6, %o2

#ifndef STACK_UNCHECKED
    .global stack_overflow
stack_overflow:                 /* %g7: the thread whose stack is too small */
    wr %g0, 0x80, %psr
    wr %g0, %wim
    nop; nop; nop
    set boot_stack_end - 96, %sp
    call stack_overflow_report
    nop
#endif

    .global machine_stop
machine_stop:
    wr %g0, 0xc0, %psr      /* a trap with traps off ends the machine */
    nop; nop; nop
    ta 0

/* A new thread's first frame holds its function in %l0 and its argument in %i0. */
    .section .text.app, "ax"
    .global thr_entry
thr_entry:
#ifdef PREEMPT
    call irq_unlock
    clr %o0
#endif
    call %l0
    mov %i0, %o0
    call thr_finished       /* masks interrupts */
    nop
    ba thr_leave
    nop

    .section .bss
    .align 8
    .global window_last, boot_stack
window_last: .skip 8
boot_stack: .skip 4096
boot_stack_end:
