/* Semaphores. */
#include "kernel.h"

RUNTIME void semaphore_open(struct semaphore *s, const char *name, unsigned count)
{
    s->name = name;
    s->count = count;
    s->waiters.first = s->waiters.last = 0;
}

static inline int take(struct semaphore *s, unsigned ticks)
{
    unsigned before = kernel_enter();
    int result = 0;
    if (s->count)
        s->count--;
    else
        result = list_wait(&s->waiters, s, THR_WAITS_SEMAPHORE, ticks);
    kernel_leave(before);
    return result;
}

RUNTIME void semaphore_take(struct semaphore *s)
{
    take(s, 0);
}

RUNTIME int semaphore_try(struct semaphore *s)
{
    unsigned before = kernel_enter();
    int result = s->count ? 0 : THR_REFUSED;
    if (result == 0)
        s->count--;
    kernel_leave(before);
    return result;
}

RUNTIME void semaphore_give(struct semaphore *s)
{
    unsigned before = kernel_enter();
    if (!list_wake(&s->waiters))
        s->count++;
    kernel_leave(before);
}

#ifdef PREEMPT
RUNTIME int semaphore_take_for(struct semaphore *s, unsigned ticks)
{
    return take(s, ticks);
}
#endif
