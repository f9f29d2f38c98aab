/* What the C files of the runtime share. */
#ifndef KERNEL_H
#define KERNEL_H
#include "regwin.h"

/* Where C code of the runtime goes: what runs once, and the rest. */
#define BOOT __attribute__((section(".text.boot")))
#define RUNTIME __attribute__((section(".text.app")))

/* What %g6 points at. */
struct windows {
    struct thr *owner[32];  /* for window q: the thread whose lowest resident window is q-1 */
    unsigned scratch[2];    /* two words for handlers */
    unsigned last;          /* 4 * (number of windows less one) */
    int others;             /* adaptive: suspended threads with windows; -1: the running thread is alone */
    int credit;             /* adaptive: the credit while the running thread is alone */
    unsigned loss;          /* adaptive: what a lost window takes from the credit */
    unsigned spared;        /* adaptive: neighbours that were left their windows, times SPARED_STEP */
    unsigned clock;         /* allocation `lru`: switches so far */
    unsigned pause;         /* adaptive: so many times more no thread that is alone leaves windows */
    unsigned paused;        /* adaptive: how often that was after sharing ended last, 4^k - 1; 0 if sharing paid */
    unsigned room[32];      /* adaptive, by window: the bits of the three windows above it */
};
extern struct windows window_owner;

/* The first thread of the ready queue is in a register. */
static inline struct thr *ready_first(void)
{
    struct thr *first;
    __asm__ volatile("mov %%g5, %0" : "=r"(first));
    return first;
}

static inline void ready_set_first(struct thr *first)
{
    __asm__ volatile("mov %0, %%g5" : : "r"(first));
}

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

/* Loops of what is called often carry their THR_LOOP in an instruction that they need anyway: one that is executed when the loop is
 * reached, and one in each turn. */
#ifdef PREEMPT
#define TEXT_OF(it) #it
#define LOOP_BEGINS(id, most, instruction, ...) __asm__ volatile("995: " instruction THR_MARK_IS(#id, TEXT_OF(most), "1") : __VA_ARGS__)
#define LOOP_TURNS(id, instruction, ...) __asm__ volatile("995: " instruction THR_MARK_IS(#id, "0", "0") : __VA_ARGS__)
#define LOOP_FIRST(id, most, to, from) LOOP_BEGINS(id, most, "ld %1, %0", "=r"(to) : "m"(from))
#define LOOP_NEXT(id, to, from) LOOP_TURNS(id, "ld %1, %0", "=r"(to) : "m"(from))
#else
#define LOOP_FIRST(id, most, to, from) ((to) = (from))
#define LOOP_NEXT(id, to, from) ((to) = (from))
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
