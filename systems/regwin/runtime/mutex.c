/* Mutexes; with PRIORITIES an owner is as urgent as the threads that wait for it. */
#include "kernel.h"

RUNTIME void mutex_open(struct mutex *m, const char *name)
{
    m->name = name;
    m->owner = 0;
    m->waiters.first = m->waiters.last = 0;
}

/* The thread that a thread waits for; 0 if it waits for no mutex. */
static inline struct thr *waits_for(const struct thr *t)
{
    return t->waits_for == THR_WAITS_MUTEX ? ((const struct mutex *)t->waits)->owner : 0;
}

#ifdef PRIORITIES
RUNTIME void mutex_settle(struct thr *t)
{
    struct thr *self;
    LOOP_SELF(1, THR_MAX, self);
    for (; t; t = waits_for(t)) {
        unsigned priority;
        LOOP_NEXT(1, priority, t->base);
        for (const struct mutex *m = t->held; m; m = m->next)
            if (m->waiters.first && m->waiters.first->priority < priority)
                priority = m->waiters.first->priority;
        if (priority == t->priority)
            return;
        struct thr_list *list = t->in;
        if (list) {
            list_unlink(list, t);
            t->priority = priority;
            list_insert(list, t);
        } else if (t != self && t->queued) {
            ready_move(t, priority);
        } else {
            t->priority = priority;
        }
    }
}

RUNTIME int thr_set_priority(struct thr *t, unsigned priority)
{
    if (priority >= THR_PRIORITIES)
        return THR_REFUSED;
    unsigned before = kernel_enter();
    t->base = priority;
    mutex_settle(t);
    kernel_leave(before);
    return 0;
}
#endif

static inline void own(struct mutex *m, struct thr *t)
{
    m->owner = t;
#ifdef PRIORITIES
    if (t) {
        m->next = t->held;
        t->held = m;
    }
#endif
}

static inline int lock(struct mutex *m, unsigned ticks)
{
    unsigned before = kernel_enter();
    struct thr *self = thr_self();
    int result = 0;
    if (!m->owner) {
        own(m, self);
    } else {
        const struct thr *t;
        LOOP_FIRST(2, THR_MAX, t, m->owner);
        while (t && result == 0) {
            const void *waits;
            LOOP_NEXT(2, waits, t->waits);
            if (t == self)
                result = THR_DEADLOCK;
            t = t->waits_for == THR_WAITS_MUTEX ? ((const struct mutex *)waits)->owner : 0;
        }
        if (result == 0)
            result = list_wait(&m->waiters, m, THR_WAITS_MUTEX, ticks);
    }
    kernel_leave(before);
    return result;
}

RUNTIME int mutex_lock(struct mutex *m)
{
    return lock(m, 0);
}

#ifdef PREEMPT
RUNTIME int mutex_lock_for(struct mutex *m, unsigned ticks)
{
    return lock(m, ticks);
}
#endif

RUNTIME int mutex_try(struct mutex *m)
{
    unsigned before = kernel_enter();
    int result = m->owner ? THR_REFUSED : 0;
    if (result == 0)
        own(m, thr_self());
    kernel_leave(before);
    return result;
}

RUNTIME int mutex_unlock(struct mutex *m)
{
    struct thr *self = thr_self();
    if (m->owner != self)
        return THR_REFUSED;
    unsigned before = kernel_enter();
#ifdef PRIORITIES
    struct mutex **at = &self->held;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
#endif
    own(m, list_wake(&m->waiters));
#ifdef PRIORITIES
    mutex_settle(self);
    mutex_settle(m->owner);
#endif
    kernel_leave(before);
    return 0;
}
