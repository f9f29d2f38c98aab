/* The ready queue's place, and where the fields are that assembly names. */
#include "kernel.h"
#include <stddef.h>
#include "machine.h"

struct thr_queue thr_queue = {&thr_boot, &thr_idle, 0};
#ifdef PREEMPT
unsigned clock_period;
#endif

_Static_assert(offsetof(struct thr, place) == TCB_PLACE && offsetof(struct thr, pc) == TCB_PC && offsetof(struct thr, ps) == TCB_PS, "machine.h");
_Static_assert(offsetof(struct thr, frame) == TCB_FRAME && offsetof(struct thr, next) == TCB_NEXT, "machine.h");
_Static_assert(offsetof(struct thr, stack) == TCB_STACK, "machine.h");
_Static_assert(offsetof(struct thr_queue, self) == QUEUE_SELF && offsetof(struct thr_queue, first) == QUEUE_FIRST, "machine.h");
_Static_assert(offsetof(struct thr_queue, last) == QUEUE_LAST, "machine.h");

void too_many_registers_report(void);
BOOT void too_many_registers_report(void)
{
    console_text("regwin: this core has 64 registers; the runtime is for 32\n");
    machine_stop();
}

#ifndef PRIORITIES
RUNTIME void ready_push(struct thr *t)
{
    struct thr *first = ready_first();
#ifdef WORKING_SET
    if (is_resident(t)) { /* it is next */
        t->next = first;
        thr_queue.first = t;
        if (first == &thr_idle)
            thr_queue.last = t;
        return;
    }
#endif
    t->next = &thr_idle;
    *(first == &thr_idle ? &thr_queue.first : &thr_queue.last->next) = t;
    thr_queue.last = t;
}
#endif

#ifdef PREEMPT
/* Called by interrupt.S on the stack of interrupts, interrupts masked: every interrupt that waits. */
void irq_dispatch(unsigned number);
void irq_pending(void);
RUNTIME void irq_pending(void)
{
    unsigned waits, enabled;
    READ(interrupt, waits);
    READ(intenable, enabled);
    waits &= enabled & THR_IRQ_NUMBERS;
    for (unsigned number = 0; waits; number++, waits >>= 1) {
        if (!(waits & 1))
            continue;
        WRITE(intclear, 1u << number); /* of software and of an edge */
        irq_dispatch(number);
    }
}
#endif
