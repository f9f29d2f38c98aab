/* What a switch of both schemes begins with. Without a frame: it runs in that of its caller, which keeps a0 to a7. In a8 where
 * the thread goes on, in a11 its state; then a9 is the queue, a10 the next thread, a12 the suspended one. */
    .section .text.switch, "ax"
    .literal .Lqueue, thr_queue
    .literal .Lidle, thr_idle
    .literal .Loverflowed, thr_overflowed
    .global SWITCH_LEAVE, SWITCH_FLUSH, thr_leave

/* The first of the ready queue, a10, runs from now on. */
#define TAKE_NEXT \
    l32r a9, .Lqueue; \
    l32i a10, a9, QUEUE_FIRST; \
    TAKE_FIRST
#define TAKE_FIRST \
    l32i a13, a10, TCB_NEXT; \
    s32i a13, a9, QUEUE_FIRST; \
    s32i a10, a9, QUEUE_SELF

#ifdef STACK_UNCHECKED
#define CHECK_STACK
#else
/* The frame must lie above the lowest word of its thread's stack. */
#define CHECK_STACK l32i a13, a12, TCB_STACK; bgeu a13, a1, overflowed
#endif

#ifndef PRIORITIES
/* The running thread goes behind those that are ready, and the first of them runs; at once back if there is none. */
    .p2align 2
#ifdef PREEMPT
    .literal .Lirq_state, irq_state
    .literal .Lwaits, irq_waits
    .literal .Lcalls, text_calls
    .literal .Lyield, text_yield
    .global thr_yield, thr_yield_flush, ready_yield, ready_yield_flush
thr_yield:
thr_yield_flush:
    rsil a11, LOCKED
    l32r a9, .Lirq_state
    l32i a9, a9, 0
    beqz a9, yield
    l32r a10, .Lcalls
    l32r a11, .Lyield
    l32r a8, .Lwaits
    callx8 a8               /* a handler may not wait */
ready_yield:
ready_yield_flush:
    rsr a11, ps
#else
    .global thr_yield, thr_yield_flush
thr_yield:
thr_yield_flush:
#endif
yield:
    l32r a9, .Lqueue
    l32r a13, .Lidle
    l32i a10, a9, QUEUE_FIRST
    l32i a12, a9, QUEUE_SELF
    beq a10, a13, alone
    s32i a13, a12, TCB_NEXT
    l32i a13, a9, QUEUE_LAST
    s32i a12, a13, TCB_NEXT
    s32i a12, a9, QUEUE_LAST
    j switch
alone:
    UNLOCK(a11)
    RETURN
#endif
#ifndef STACK_UNCHECKED
overflowed:
    l32r a9, .Loverflowed
    jx a9
#endif

    .p2align 2
SWITCH_LEAVE:
SWITCH_FLUSH:
#ifdef PREEMPT
    rsr a11, ps
#endif
    l32r a9, .Lqueue
    l32i a12, a9, QUEUE_SELF
    l32i a10, a9, QUEUE_FIRST
switch:
    CHECK_STACK
    TAKE_FIRST
