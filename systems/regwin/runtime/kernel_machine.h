/* What the C files of the runtime know of the processor: SPARC V8, and the devices of a LEON3. */
#ifndef KERNEL_MACHINE_H
#define KERNEL_MACHINE_H

/* What %g6 points at. */
struct windows {
    struct thr *owner[32];  /* for window q: the thread whose lowest resident window is q-1 */
    unsigned scratch[2];    /* two words for handlers */
    unsigned last;          /* 4 * (number of windows less one) */
    int others;             /* adaptive: suspended threads with windows; -1: the running thread is alone */
    int credit;             /* adaptive: the credit while the running thread is alone */
    unsigned narrow;        /* adaptive: how long the last trial waited for a thread with room above it, 2^k - 1 */
    unsigned spared;        /* adaptive: neighbours that were left their windows, times SPARED_STEP */
    unsigned clock;         /* allocation `lru`: switches so far */
    unsigned samples;       /* adaptive: so many switches more look how many windows a thread that is alone has */
    unsigned paused;        /* adaptive: how many switches the last pause was, 4^k - 1; 0 if sharing paid since */
    unsigned room[32];      /* adaptive, by window: the bits of the three windows above it */
};
extern struct windows window_owner;

/* adaptive: what a thread is thought to gain before it is known, in cycles: two windows. */
#define GAIN_FIRST 160

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

/* True if a suspended thread still has windows. */
static inline int is_resident(const struct thr *t)
{
    return t->psr != 0;
}

/* Loops of what is called often carry their THR_LOOP in an instruction that they need anyway: one that is executed when the loop is
 * reached, and one in each turn. */
#ifdef PREEMPT
#define TEXT_OF(it) #it
#define LOOP_BEGINS(id, most, instruction, ...) __asm__ volatile("995: " instruction THR_MARK_IS(#id, TEXT_OF(most), "1") : __VA_ARGS__)
#define LOOP_TURNS(id, instruction, ...) __asm__ volatile("995: " instruction THR_MARK_IS(#id, "0", "0") : __VA_ARGS__)
#define LOOP_FIRST(id, most, to, from) LOOP_BEGINS(id, most, "ld %1, %0", "=r"(to) : "m"(from))
#define LOOP_NEXT(id, to, from) LOOP_TURNS(id, "ld %1, %0", "=r"(to) : "m"(from))
#define LOOP_SELF(id, most, to) LOOP_BEGINS(id, most, "mov %%g7, %0", "=r"(to))
#else
#define LOOP_FIRST(id, most, to, from) ((to) = (from))
#define LOOP_NEXT(id, to, from) ((to) = (from))
#define LOOP_SELF(id, most, to) ((to) = thr_self())
#endif

/* The serial port, byte by byte. */
#define UART ((volatile unsigned *)0x80000100u)

static inline void console_byte(unsigned it)
{
    UART[2] = 3;
    while (!(UART[1] & 4))
        ;
    UART[0] = it;
}

#ifdef PREEMPT
/* The interrupt controller and the first timer. */
#define IRQS 15
#define IRQMP ((volatile unsigned *)0x80000200u)
enum { IRQ_FORCE = 2, IRQ_MASK = 16 };
#define TIMER ((volatile unsigned *)0x80000310u)
enum { TIMER_RELOAD = 1, TIMER_CONTROL = 2 };

/* True if programs may handle this one. */
static inline int irq_exists(unsigned level)
{
    return level != 0 && level < IRQS;
}

static inline void irq_enable(unsigned level)
{
    IRQMP[IRQ_MASK] |= 1u << level;
}

static inline void irq_disable(unsigned level)
{
    IRQMP[IRQ_MASK] &= ~(1u << level);
}

static inline void irq_force(unsigned level)
{
    IRQMP[IRQ_FORCE] |= 1u << level; /* those that are pending stay */
}

static inline void clock_start(unsigned ticks)
{
    TIMER[TIMER_RELOAD] = ticks - 1;
    TIMER[TIMER_CONTROL] = 15; /* runs, again and again, from the start, with interrupts */
}

static inline void clock_stop(void)
{
    TIMER[TIMER_CONTROL] = 0;
}

/* What a tick does for the next one. */
static inline void clock_goes_on(void)
{
}
#endif
#endif
