/* What the C files of the runtime share. */
#ifndef KERNEL_H
#define KERNEL_H
#include "regwin.h"

/* Where C code of the runtime goes: what runs once, and the rest. */
#define BOOT __attribute__((section(".text.boot")))
#define RUNTIME __attribute__((section(".text.app")))

#include "kernel_machine.h"

/* The options that wrap the switch: it is called with interrupts masked, and threads by schedule.c. */
#if defined(PREEMPT) || defined(PRIORITIES)
#define WRAPPED
#endif

/* The running thread gives up the processor; the first of the ready queue runs. */
#ifdef WRAPPED
void switch_leave(void);
void switch_flush(void);
/* Threads become ready, or run after the ready ones, interrupts masked. */
void ready_push(struct thr *t);
void ready_yield(void);
void ready_yield_flush(void);
#else
#define switch_leave thr_block_leave
#define ready_push thr_wake
#endif

#ifdef PREEMPT
/* Depth of interrupt handlers; and why the ready queue is looked at before the interrupted thread goes on. */
struct irq_state {
    unsigned depth, looks;
};
enum { IRQ_LOOK = 1, IRQ_SLICE_OVER = 2 };
extern struct irq_state irq_state;
/* Masks interrupts; returns what irq_unlock puts back. */
unsigned irq_lock(void);
void irq_unlock(unsigned before);
#endif

#ifdef PREEMPT
/* A handler has called what waits: says what, and stops the machine. */
void irq_waits(const char *verb, const char *what) __attribute__((noreturn));
#endif

/* What may make the running thread wait begins with this: a handler runs on no thread's stack, so nothing could be switched away from. */
static inline void may_wait(const char *verb, const char *what)
{
#ifdef PREEMPT
    if (irq_state.depth)
        irq_waits(verb, what);
#else
    (void)verb;
    (void)what;
#endif
}

static inline void give_up(void)
{
#ifdef PRIORITIES
    thr_self()->queued = 0;
#endif
    switch_leave();
}

#ifdef PRIORITIES
/* A ready thread's place for a new priority. */
void ready_move(struct thr *t, unsigned priority);
/* Runs a more urgent thread, if one is ready. Interrupts masked, not in a handler. */
void ready_give_way(void);
#endif

/* Around all that touches ready queue and wait queues: no interrupt comes between. */
static inline unsigned kernel_enter(void)
{
#ifdef PREEMPT
    return irq_lock();
#else
    return 0;
#endif
}

/* The end of it; a thread that became ready and is more urgent runs first. */
static inline void kernel_leave(unsigned before)
{
#ifdef PREEMPT
    if (irq_state.depth) {
        irq_state.looks |= IRQ_LOOK;
        irq_unlock(before);
        return;
    }
#endif
#ifdef PRIORITIES
    ready_give_way();
#endif
#ifdef PREEMPT
    irq_unlock(before);
#endif
    (void)before;
}

/* Waiting threads, most urgent first, then by arrival. */
void list_insert(struct thr_list *list, struct thr *t);
void list_unlink(struct thr_list *list, struct thr *t);
/* The running thread waits in a list until it is woken, or so many ticks have passed (0: for ever). `object` begins
 * with the name that a report gives; `why` is a THR_WAITS_. Interrupts masked. Returns 0 or
 * THR_TIMEOUT. */
int list_wait(struct thr_list *list, const void *object, int why, unsigned ticks);
/* The first thread of a list, which is ready from then on; 0 if there is none. */
struct thr *list_wake(struct thr_list *list);

#ifdef PREEMPT
/* A waiting thread's time: set, and forgotten. */
void timer_set(struct thr *t, unsigned ticks);
void timer_forget(struct thr *t);
/* A tick of the clock: those whose time is over are ready. */
void clock_tick(void);
#endif

#ifdef PRIORITIES
/* Gives a thread the higher of its own priority and that of the threads that wait for its mutexes, and so on along the chain. */
void mutex_settle(struct thr *t);
#endif
#endif
