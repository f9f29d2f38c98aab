/* What threads call, where the switch itself is wrapped: with PREEMPT interrupts are masked around it, with PRIORITIES a
 * thread that becomes ready may run at once. */
#include "kernel.h"

RUNTIME void thr_wake(struct thr *t)
{
    unsigned before = kernel_enter();
#ifdef PRIORITIES
    if (!t->queued)
#endif
        ready_push(t);
    kernel_leave(before);
}

#ifndef YIELDS_WITHOUT_FRAME
RUNTIME void thr_yield(void)
{
    may_wait("calls ", "thr_yield");
    unsigned before = kernel_enter();
    ready_yield();
    kernel_leave(before);
}

RUNTIME void thr_yield_flush(void)
{
    may_wait("calls ", "thr_yield_flush");
    unsigned before = kernel_enter();
    ready_yield_flush();
    kernel_leave(before);
}
#endif

RUNTIME void thr_block_leave(void)
{
    may_wait("calls ", "thr_block");
    unsigned before = kernel_enter();
    give_up();
    kernel_leave(before);
}

RUNTIME void thr_block_flush(void)
{
    may_wait("calls ", "thr_block");
    unsigned before = kernel_enter();
#ifdef PRIORITIES
    thr_self()->queued = 0;
#endif
    switch_flush();
    kernel_leave(before);
}
