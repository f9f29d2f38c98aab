/* What RTOS people measure, after the published descriptions of RTEMS' tmcontext01, Rhealstone and Thread-Metric. Each round is
 * between two marks, whose cycles the plugin counts. Built with PREEMPT and PRIORITIES; the clock
 * does not run. */
#include "kernel.h"

/* What the loader puts into memory; src/rtos.rs writes it. */
struct table {
    unsigned which, depth, rounds;
};
#define TABLE ((const struct table *)0x40440000u)

enum {
    EMPTY, CALLS, SWITCH_CALLS, SWITCH_DEEP, PREEMPTION, LATENCY, SHUFFLE, DEADLOCK, MESSAGE, COOPERATIVE, PREEMPTIVE, INTERRUPT,
    INTERRUPT_PREEMPTS, MESSAGES, SEMAPHORE, MEMORY
};

/* A round begins; it ends, or the next one begins. */
void mark_begin(void);
void mark_end(void);
__asm__(".section .text.app\n.global mark_begin, mark_end\nmark_begin: retl\n nop\nmark_end: retl\n nop\n.previous\n");

#define N 5
#define LEVEL 5
struct thr threads[N];
static unsigned stacks[N][2048] __attribute__((aligned(8)));
static volatile unsigned counters[N], goes_on = 1;
static struct mutex mutex;
static struct semaphore semaphore, other;
static struct queue queue;
static unsigned items[8][4];
static struct pool pool;
static unsigned blocks[16][32];

/* Calls so deep, and does it there. */
static __attribute__((noinline)) unsigned nest(unsigned depth, void (*body)(void))
{
    if (depth == 0) {
        body();
        return 0;
    }
    unsigned below = nest(depth - 1, body);
    __asm__ volatile("" : "+r"(below));
    return below + 1;
}

static void nothing(void)
{
    __asm__ volatile("" : : : "memory");
}

/* Does a round so many times; other threads end with it. */
#define ROUNDS(round) \
    do { \
        for (unsigned i = 0; i < TABLE->rounds; i++) { \
            mark_begin(); \
            round; \
        } \
        mark_end(); \
        goes_on = 0; \
    } while (0)
#define WHILE(round) \
    while (goes_on) { \
        round; \
    }

static void measured_calls(void) { nest(TABLE->depth, nothing); }
static void switches(void) { nest(TABLE->depth, thr_yield); }
static void rounds_of_yields(void) { ROUNDS(thr_yield()); }
static void yields(void) { WHILE(thr_yield()); }
static void raise(void) { irq_raise(LEVEL); }

static void empty(void *x) { (void)x; for (unsigned i = 0; i < TABLE->rounds; i++) { mark_begin(); mark_end(); } }
static void calls(void *x) { (void)x; ROUNDS(measured_calls()); }
static void switch_calls(void *x) { (void)x; ROUNDS(switches()); }
static void switch_calls_too(void *x) { (void)x; WHILE(switches()); }
static void switch_deep(void *x) { (void)x; nest(TABLE->depth, rounds_of_yields); }
static void switch_deep_too(void *x) { (void)x; nest(TABLE->depth, yields); }

/* From the call that makes an urgent thread ready to that thread. */
static void wakes(void) { for (unsigned i = 0; i < TABLE->rounds; i++) { mark_begin(); thr_wake(&threads[1]); } goes_on = 0; thr_wake(&threads[1]); }
static void preempted(void *x) { (void)x; nest(TABLE->depth, wakes); }
static void preempts(void *x) { (void)x; for (;;) { thr_block(THR_LEAVE); if (!goes_on) return; mark_end(); } }

/* From the interrupt to its handler, in a thread that has called so deep. */
static void on_latency(void *x) { (void)x; mark_end(); }
static void raises(void) { for (unsigned i = 0; i < TABLE->rounds; i++) { mark_begin(); irq_raise(LEVEL); } }
static void latency(void *x) { (void)x; irq_attach(LEVEL, on_latency, 0); nest(TABLE->depth, raises); }

/* From asking for a semaphore that another thread has, to having it. */
static void shuffle(void *x)
{
    (void)x;
    for (unsigned i = 0; i < TABLE->rounds; i++) {
        thr_yield();
        mark_begin();
        semaphore_take(&semaphore);
        mark_end();
        semaphore_give(&semaphore);
    }
    goes_on = 0;
}
static void shuffle_too(void *x)
{
    (void)x;
    while (goes_on) {
        semaphore_take(&semaphore);
        thr_yield();
        semaphore_give(&semaphore);
        thr_yield();
    }
}

/* From asking for a mutex of a thread that a third one keeps from running, to having it. */
static void urgent(void *x)
{
    (void)x;
    for (unsigned i = 0; i < TABLE->rounds; i++) {
        semaphore_take(&semaphore);
        mark_begin();
        mutex_lock(&mutex);
        mark_end();
        mutex_unlock(&mutex);
    }
    goes_on = 0;
    semaphore_give(&other);
}
static void between(void *x) { (void)x; for (;;) { semaphore_take(&other); if (!goes_on) return; semaphore_give(&semaphore); } }
static void holds(void *x) { (void)x; while (goes_on) { mutex_lock(&mutex); semaphore_give(&other); mutex_unlock(&mutex); } }

/* From sending a message to the urgent thread that has it. */
static void message_too(void *x) { (void)x; unsigned item[4]; for (;;) { queue_receive(&queue, item); mark_end(); if (item[0]) return; } }
static void message(void *x)
{
    (void)x;
    unsigned item[4] = {0};
    for (unsigned i = 0; i < TABLE->rounds; i++) {
        item[0] = i + 1 == TABLE->rounds;
        mark_begin();
        queue_send(&queue, item);
    }
}

static void cooperative(void *x) { (void)x; ROUNDS(counters[0]++; thr_yield()); }
static void cooperative_too(void *x) { WHILE(counters[(unsigned)x]++; thr_yield()); }

/* Each thread resumes the next, which is more urgent, and suspends itself; the last only that. */
static void preemptive_too(void *x)
{
    unsigned i = (unsigned)x;
    for (;;) {
        thr_block(THR_LEAVE);
        counters[i]++;
        if (i < N - 1)
            thr_wake(&threads[i + 1]);
        if (!goes_on)
            return;
    }
}
static void preemptive(void *x)
{
    (void)x;
    ROUNDS(counters[0]++; thr_wake(&threads[1]));
    thr_wake(&threads[1]);
}

static void on_gives(void *x) { (void)x; semaphore_give(&semaphore); }
static void interrupts(void *x) { (void)x; irq_attach(LEVEL, on_gives, 0); ROUNDS(raise(); semaphore_take(&semaphore)); }
static void on_wakes(void *x) { (void)x; thr_wake(&threads[1]); }
static void woken(void *x) { (void)x; for (;;) { thr_block(THR_LEAVE); if (!goes_on) return; counters[1]++; } }
static void interrupt_preempts(void *x) { (void)x; irq_attach(LEVEL, on_wakes, 0); ROUNDS(raise()); raise(); }
static void messages(void *x) { (void)x; unsigned item[4] = {1, 2, 3, 4}; ROUNDS(queue_send(&queue, item); queue_receive(&queue, item)); }
static void semaphores(void *x) { (void)x; ROUNDS(semaphore_give(&semaphore); semaphore_take(&semaphore)); }
static void memory(void *x) { (void)x; ROUNDS(pool_give(&pool, pool_take(&pool))); }

static BOOT void make(unsigned i, unsigned priority, void (*run)(void *))
{
    thr_create_at(priority, &threads[i], "t", stacks[i], sizeof stacks[i], run, (void *)i);
}

int main(void)
{
    mutex_open(&mutex, "mutex");
    semaphore_open(&semaphore, "semaphore", TABLE->which == SHUFFLE);
    semaphore_open(&other, "other", 0);
    pool_open(&pool, "pool", blocks, sizeof blocks[0], 16);
    queue_open(&queue, "queue", items, sizeof items[0], 8);
    static void (*const alone[])(void *) = {
        [EMPTY] = empty, [CALLS] = calls, [LATENCY] = latency, [INTERRUPT] = interrupts, [MESSAGES] = messages, [SEMAPHORE] = semaphores,
        [MEMORY] = memory,
    };
    switch (TABLE->which) {
    case SWITCH_CALLS:
        make(0, 9, switch_calls);
        make(1, 9, switch_calls_too);
        break;
    case SWITCH_DEEP:
        make(0, 9, switch_deep);
        make(1, 9, switch_deep_too);
        break;
    case PREEMPTION:
        make(0, 9, preempted);
        make(1, 8, preempts);
        break;
    case SHUFFLE:
        make(1, 9, shuffle_too);
        make(0, 9, shuffle);
        break;
    case DEADLOCK:
        make(0, 7, urgent);
        make(1, 8, between);
        make(2, 9, holds);
        break;
    case MESSAGE:
        make(0, 9, message);
        make(1, 8, message_too);
        break;
    case COOPERATIVE:
        make(0, 9, cooperative);
        for (unsigned i = 1; i < N; i++)
            make(i, 9, cooperative_too);
        break;
    case PREEMPTIVE:
        make(0, 9, preemptive);
        for (unsigned i = 1; i < N; i++)
            make(i, 9 - i, preemptive_too);
        break;
    case INTERRUPT_PREEMPTS:
        make(0, 9, interrupt_preempts);
        make(1, 8, woken);
        break;
    default:
        make(0, 9, alone[TABLE->which]);
    }
    return 0;
}

void machine_idle(void *unused)
{
    (void)unused;
    thr_report();
    machine_stop();
}
