/* What the C files of the runtime know of the processor: Xtensa, its interrupts and first timer. */
#ifndef KERNEL_MACHINE_H
#define KERNEL_MACHINE_H

static inline struct thr *ready_first(void)
{
    return thr_queue.first;
}

static inline void ready_set_first(struct thr *first)
{
    thr_queue.first = first;
}

/* True if a suspended thread still has windows. */
static inline int is_resident(const struct thr *t)
{
    return t->place >= 0;
}

#define LOOP_FIRST(id, most, to, from) ((to) = (from))
#define LOOP_NEXT(id, to, from) ((to) = (from))
#define LOOP_SELF(id, most, to) ((to) = thr_self())

/* By the simulator's call of the host; on a board this is the only function to replace. */
void console_byte(unsigned byte);

#ifdef PREEMPT
#ifndef PRIORITIES
/* switch.S has them, without a frame. */
#define YIELDS_WITHOUT_FRAME
#endif

#define IRQS 32

/* True if programs may handle this one: its level is 1 to 3. */
static inline int irq_exists(unsigned number)
{
    return number < IRQS && THR_IRQ_NUMBERS >> number & 1;
}

#define READ(name, to) __asm__ volatile("rsr %0, " #name : "=r"(to))
#define WRITE(name, from) __asm__ volatile("wsr %0, " #name "\n\trsync" : : "r"(from))

static inline void irq_enable(unsigned number)
{
    unsigned enabled;
    READ(intenable, enabled);
    WRITE(intenable, enabled | 1u << number);
}

static inline void irq_disable(unsigned number)
{
    unsigned enabled;
    READ(intenable, enabled);
    WRITE(intenable, enabled & ~(1u << number));
}

static inline void irq_force(unsigned number)
{
    WRITE(intset, 1u << number);
}

/* Cycles from tick to tick. */
extern unsigned clock_period;

static inline void clock_start(unsigned ticks)
{
    unsigned now;
    clock_period = ticks;
    READ(ccount, now);
    WRITE(ccompare0, now + ticks);
}

static inline void clock_stop(void)
{
}

/* The next tick, a whole number of periods after the first; what is too late is left out. */
static inline void clock_goes_on(void)
{
    unsigned now, next;
    READ(ccompare0, next);
    READ(ccount, now);
    next += clock_period;
    if ((int)(now - next) >= 0)
        next = now + clock_period;
    WRITE(ccompare0, next);
}
#endif
#endif
