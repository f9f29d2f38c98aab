/* The ready queue: who runs next. The switches take from its front. */
#include "window.h"
#ifdef PREEMPT
/* schedule.c has the others, and calls these with interrupts masked. */
#define thr_wake ready_push
#define thr_yield ready_yield
#define thr_yield_flush ready_yield_flush
#endif
    .section .text.app, "ax"
    .global thr_wake, thr_yield, thr_yield_flush
thr_wake:                       /* %o0: a suspended thread */
#ifdef WORKING_SET
    ld [%o0 + TCB_PSR], %o2
    tst %o2                     /* its windows are still here: it is next */
    bne push_front
    nop
#endif
push_back:
    sethi %hi(thr_idle), %o1
    or %o1, %lo(thr_idle), %o1
    cmp %g5, %o1
    sethi %hi(ready_last), %o2
    be push_first
    st %o1, [%o0 + TCB_NEXT]
push_behind:
    ld [%o2 + %lo(ready_last)], %o3
    st %o0, [%o3 + TCB_NEXT]
    retl
    st %o0, [%o2 + %lo(ready_last)]
push_first:
    mov %o0, %g5
    retl
    st %o0, [%o2 + %lo(ready_last)]
#ifdef WORKING_SET
push_front:
    sethi %hi(thr_idle), %o1
    or %o1, %lo(thr_idle), %o1
    cmp %g5, %o1
    sethi %hi(ready_last), %o2
    bne push_before
    st %g5, [%o0 + TCB_NEXT]
push_only:
    st %o0, [%o2 + %lo(ready_last)]
push_before:
    retl
    mov %o0, %g5
#endif
/* The running thread goes to the back of the queue. */
#define YIELD(how) \
    sethi %hi(thr_idle), %o1; \
    or %o1, %lo(thr_idle), %o1; \
    cmp %g5, %o1; \
    be yield_alone; \
    st %o1, [%g7 + TCB_NEXT]; \
    sethi %hi(ready_last), %o2; \
    ld [%o2 + %lo(ready_last)], %o3; \
    st %g7, [%o3 + TCB_NEXT]; \
    ba how; \
    st %g7, [%o2 + %lo(ready_last)]
thr_yield:
    YIELD(SWITCH_LEAVE)
thr_yield_flush:
    YIELD(SWITCH_FLUSH)
yield_alone:
    retl
    nop

    .section .bss
    .align 4
ready_last: .skip 4
