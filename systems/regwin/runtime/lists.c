/* Lists of waiting threads. */
#include "kernel.h"

RUNTIME void list_insert(struct thr_list *list, struct thr *t)
{
    struct thr *behind;
    LOOP_FIRST(1, THR_MAX, behind, list->last);
#ifdef PRIORITIES
    while (behind && behind->priority > t->priority)
        LOOP_NEXT(1, behind, behind->prev);
#endif
    t->in = list;
    t->prev = behind;
    t->next = behind ? behind->next : list->first;
    *(behind ? &behind->next : &list->first) = t;
    *(t->next ? &t->next->prev : &list->last) = t;
}

RUNTIME void list_unlink(struct thr_list *list, struct thr *t)
{
    *(t->prev ? &t->prev->next : &list->first) = t->next;
    *(t->next ? &t->next->prev : &list->last) = t->prev;
    t->in = 0;
}

RUNTIME int list_wait(struct thr_list *list, const void *object, int why, unsigned ticks)
{
    struct thr *self = thr_self();
    may_wait("waits for ", *(const char *const *)object);
    self->waits = object;
    self->waits_for = why;
    list_insert(list, self);
#ifdef PREEMPT
    self->timed_out = 0;
    if (ticks)
        timer_set(self, ticks);
#else
    (void)ticks;
#endif
#ifdef PRIORITIES
    if (why == THR_WAITS_MUTEX)
        mutex_settle(((const struct mutex *)object)->owner);
#endif
    give_up();
#ifdef PREEMPT
    return self->timed_out ? THR_TIMEOUT : 0;
#else
    return 0;
#endif
}

RUNTIME struct thr *list_wake(struct thr_list *list)
{
    struct thr *t = list->first;
    if (!t)
        return 0;
    list_unlink(list, t);
    t->waits_for = THR_RUNS;
#ifdef PREEMPT
    timer_forget(t);
#endif
    ready_push(t);
    return t;
}
