/* Interrupts: their handlers, the clock, and waits that end after a time. interrupt.S calls this. */
#include "kernel.h"

struct irq_state irq_state __attribute__((aligned(8)));

static struct {
    irq_handler *run;
    void *argument;
} handlers[IRQS];

BOOT int irq_attach(unsigned level, irq_handler *handler, void *argument)
{
    if (!irq_exists(level) || !handler || handlers[level].run)
        return THR_REFUSED;
    unsigned before = irq_lock();
    handlers[level].run = handler;
    handlers[level].argument = argument;
    irq_enable(level);
    irq_unlock(before);
    return 0;
}

BOOT void irq_detach(unsigned level)
{
    if (!irq_exists(level))
        return;
    unsigned before = irq_lock();
    irq_disable(level);
    handlers[level].run = 0;
    irq_unlock(before);
}

RUNTIME void irq_raise(unsigned level)
{
    unsigned before = irq_lock();
    irq_force(level);
    irq_unlock(before);
}

/* Called by interrupt.S on the stack of interrupts, at the level of the interrupt. */
void irq_dispatch(unsigned level);
RUNTIME void irq_dispatch(unsigned level)
{
    if (handlers[level].run) {
        handlers[level].run(handlers[level].argument);
        return;
    }
    console_text("regwin: interrupt ");
    console_number(level);
    console_text(" has no handler\n");
    machine_stop();
}

RUNTIME void irq_waits(const char *verb, const char *what)
{
    console_text("regwin: a handler ");
    console_text(verb);
    console_text(what);
    console_text("\n");
    machine_stop();
}

/* Called by interrupt.S on the interrupted thread's stack, interrupts masked, before that thread goes on. */
void irq_reschedule(void);
RUNTIME void irq_reschedule(void)
{
    unsigned looks = irq_state.looks;
    irq_state.looks = 0;
    if (thr_self() == &thr_idle) {
        if (ready_first() != &thr_idle)
            switch_leave();
        return;
    }
    if (looks & IRQ_SLICE_OVER) {
        ready_yield();
        return;
    }
#ifdef PRIORITIES
    ready_give_way();
#endif
}

static unsigned now;
/* Those whose wait ends after a time, the first to end first. */
static struct thr *timed;

RUNTIME void timer_set(struct thr *t, unsigned ticks)
{
    struct thr **at = &timed, *next;
    t->wakes_at = now + ticks;
    LOOP_FIRST(1, THR_MAX, next, timed);
    while (next && (int)(next->wakes_at - t->wakes_at) <= 0) {
        at = &next->timed_next;
        LOOP_NEXT(1, next, *at);
    }
    t->timed_next = next;
    t->timed = at;
    if (next)
        next->timed = &t->timed_next;
    *at = t;
}

RUNTIME void timer_forget(struct thr *t)
{
    if (!t->timed)
        return;
    *t->timed = t->timed_next;
    if (t->timed_next)
        t->timed_next->timed = t->timed;
    t->timed = 0;
}

static RUNTIME void tick(void *unused)
{
    (void)unused;
    clock_goes_on();
    clock_tick();
}

RUNTIME void clock_tick(void)
{
    unsigned before = irq_lock();
    now++;
    struct thr *t;
    LOOP_FIRST(2, THR_MAX, t, timed);
    while (t && (int)(t->wakes_at - now) <= 0) {
        timer_forget(t);
        t->timed_out = 1;
        if (t->in)
            list_unlink(t->in, t);
#ifdef PRIORITIES
        if (t->waits_for == THR_WAITS_MUTEX)
            mutex_settle(((const struct mutex *)t->waits)->owner);
#endif
        t->waits_for = THR_RUNS;
        ready_push(t);
        LOOP_NEXT(2, t, timed);
    }
    irq_state.looks |= IRQ_SLICE_OVER;
    irq_unlock(before);
}

BOOT void thr_preempt(unsigned ticks)
{
    if (ticks == 0) {
        clock_stop();
        irq_detach(THR_TIMER_IRQ);
        return;
    }
    if (irq_attach(THR_TIMER_IRQ, tick, 0) && handlers[THR_TIMER_IRQ].run != tick) {
        console_text("regwin: thr_preempt finds another handler at THR_TIMER_IRQ\n");
        machine_stop();
    }
    clock_start(ticks);
}

RUNTIME unsigned thr_now(void)
{
    return *(volatile unsigned *)&now;
}

RUNTIME void thr_sleep(unsigned ticks)
{
    static const struct {
        const char *name;
    } clock = {"the clock"};
    struct thr *self = thr_self();
    may_wait("calls ", "thr_sleep");
    unsigned before = irq_lock();
    self->waits = &clock;
    self->waits_for = THR_WAITS_TIME;
    timer_set(self, ticks);
    give_up();
    kernel_leave(before);
}
