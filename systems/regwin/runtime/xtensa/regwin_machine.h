/* What a program sees of the processor: Xtensa with windowed registers. Included by regwin.h.
 *
 * All functions of a program must be of the windowed ABI, and call the runtime by call8, as both compilers do.
 * There are no floating point, no __thread and no trap_attach. Numbers of interrupts are those of
 * the core, levels 1 to 3; handlers run with all of these masked, so they do not nest, and
 * irq_raise is for the core's software interrupts. A tick of thr_preempt is a cycle of CCOUNT.
 * THR_FLUSH is a hint that nothing follows: windows are stored when their place is wanted. */
#ifndef REGWIN_MACHINE_H
#define REGWIN_MACHINE_H

#if defined(__XTENSA_CALL0_ABI__)
#error "regwin: this is for the call0 ABI, which has no register windows: compile with the flags of regwin.mk"
#endif

/* What a thread's record keeps of it while it is suspended: where its newest frame lies in the registers, -1 if it lies here;
 * where and in which state it goes on; that frame. */
#define THR_REGISTERS int place; unsigned pc, ps, frame[8];

struct thr;

/* Who runs, and the ready queue. */
struct thr_queue {
    struct thr *self, *first, *last;
};
extern struct thr_queue thr_queue;

/* The running thread. */
static inline struct thr *thr_self(void)
{
    return thr_queue.self;
}

/* Stores all windows of the running thread but the current one: its stack can be read then. */
void thr_flush(void);

#ifdef PREEMPT
/* For machine_idle: waits for an interrupt. */
static inline void machine_wait(void)
{
    __asm__ volatile("waiti 0" : : : "memory");
}
#endif

/* `regwin wcet` is for SPARC. */
#define THR_LOOP(most, ...) __VA_ARGS__

#endif
