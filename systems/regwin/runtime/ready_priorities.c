/* The ready queue with PRIORITIES: one list in order, whose first thread is in %g5. The switches take that one and know nothing
 * of what is here. So what is known of priorities more urgent than the first thread's is out of
 * date, and is not used. */
#include "kernel.h"

/* The last ready thread of each priority, where `present` has the bit of that priority. */
static struct thr *last[THR_PRIORITIES];
static unsigned present;

static inline unsigned bits(void)
{
    struct thr *first = ready_first();
    return first == &thr_idle ? 0 : present & -(1u << first->priority);
}

/* The last thread of the least urgent of these priorities; 0 if there is none. */
static inline struct thr *last_of(unsigned priorities)
{
    if (!priorities)
        return 0;
    unsigned p = 0;
    /* By halves, and no loop: it is in most calls, and the time that interrupts are masked has a bound. */
#define HALF(n) if (priorities >> (n)) { priorities >>= (n); p += (n); }
    HALF(16)
    HALF(8)
    HALF(4)
    HALF(2)
    p += priorities >> 1;
    return last[p];
}

static inline void insert(struct thr *t, struct thr *behind)
{
    struct thr *next = behind ? behind->next : ready_first();
    t->queued = 1;
    t->prev = behind;
    t->next = next;
    if (next != &thr_idle)
        next->prev = t;
    if (behind)
        behind->next = t;
    else
        ready_set_first(t);
}

static inline void push_last(struct thr *t)
{
    unsigned there = bits(), bit = 1u << t->priority;
    insert(t, last_of(there & (bit | (bit - 1))));
    last[t->priority] = t;
    present = there | bit;
}

static inline void push_first(struct thr *t)
{
    unsigned there = bits(), bit = 1u << t->priority;
    insert(t, last_of(there & (bit - 1)));
    if (!(there & bit))
        last[t->priority] = t;
    present = there | bit;
}

RUNTIME void ready_push(struct thr *t)
{
#ifdef WORKING_SET
    if (is_resident(t)) {
        push_first(t);
        return;
    }
#endif
    push_last(t);
}

RUNTIME void ready_move(struct thr *t, unsigned priority)
{
    unsigned there = bits(), bit = 1u << t->priority;
    if (t == ready_first()) {
        ready_set_first(t->next);
        if (last[t->priority] == t)
            there &= ~bit;
    } else {
        t->prev->next = t->next;
        if (t->next != &thr_idle)
            t->next->prev = t->prev;
        if (last[t->priority] == t) {
            if (t->prev->priority == t->priority)
                last[t->priority] = t->prev;
            else
                there &= ~bit;
        }
    }
    present = there;
    t->priority = priority;
    push_last(t);
}

RUNTIME void ready_give_way(void)
{
    struct thr *first = ready_first(), *self = thr_self();
    if (first == &thr_idle || first->priority >= self->priority)
        return;
    if (self != &thr_idle)
        push_first(self);
    switch_leave();
}

/* True if a thread is ready that is as urgent as the running one, which is after it then. */
static inline int goes_behind(void)
{
    struct thr *first = ready_first(), *self = thr_self();
    if (first == &thr_idle || first->priority > self->priority)
        return 0;
    if (self != &thr_idle)
        push_last(self);
    return 1;
}

RUNTIME void ready_yield(void)
{
    if (goes_behind())
        switch_leave();
}

RUNTIME void ready_yield_flush(void)
{
    if (goes_behind())
        switch_flush();
}
