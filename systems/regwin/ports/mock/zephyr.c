/* A mock of Zephyr's kernel: threads in turn, by Zephyr's contract with arch/sparc. */
#include "mock.h"
#include <zephyr/kernel.h>
#include <zephyr/arch/cpu.h>
#include <offsets_short.h>

#define AT(offset, field) _Static_assert((offset) == offsetof(struct k_thread, field), #field)
struct kernel {
    unsigned nested;
    char *irq_stack;
} _kernel;

AT(_thread_offset_to_y, callee_saved.y);
AT(_thread_offset_to_psr, callee_saved.psr);
AT(_thread_offset_to_l0_and_l1, callee_saved.l0_and_l1);
AT(_thread_offset_to_o6, callee_saved.o6);
AT(___thread_t_switch_handle_OFFSET, switch_handle);
AT(_thread_offset_to_tls, tls);
_Static_assert(_kernel_offset_to_irq_stack == offsetof(struct kernel, irq_stack), "irq_stack");

/* Two records a slot, used in turn: what is left of a thread in the first must not meddle with the second. */
static struct k_thread records[MOCK_THREADS][2] __attribute__((aligned(8))), dummy __attribute__((aligned(8)));
static char alive[MOCK_THREADS], turn[MOCK_THREADS];
static unsigned current = MOCK_THREADS;
static int others_run;

#pragma weak thread_abort_hook
#pragma weak regwin_store_others
void regwin_store_others(void);
void z_thread_entry_wrapper(void);
void z_thread_entry(k_thread_entry_t entry, void *p1, void *p2, void *p3);
void z_sparc_enter_irq(uint32_t level);
void *z_arch_get_next_switch_handle(struct k_thread **old);
extern char mock_irq_stack_end[];

static struct k_thread *record(unsigned slot)
{
    return slot == MOCK_THREADS ? &dummy : &records[slot][(int)turn[slot]];
}

void arch_new_thread(struct k_thread *thread, k_thread_stack_t *stack, char *stack_ptr, k_thread_entry_t entry, void *p1, void *p2, void *p3)
{
    (void)stack;
    thread->callee_saved.i0 = (uint32_t)entry;
    thread->callee_saved.i1 = (uint32_t)p1;
    thread->callee_saved.i2 = (uint32_t)p2;
    thread->callee_saved.i3 = (uint32_t)p3;
    thread->callee_saved.i6 = 0;
    thread->callee_saved.o6 = (uint32_t)stack_ptr - 64;
    thread->callee_saved.o7 = (uint32_t)z_thread_entry_wrapper - 8;
    thread->callee_saved.psr = 0xe0;
    thread->switch_handle = thread;
}

/* The running thread goes on later, or never. Interrupts masked. */
static void swap(void)
{
    struct k_thread *old = record(current);
    current = mock_next(current == MOCK_THREADS ? 0 : current, alive);
    if (current == MOCK_THREADS)
        program_ends();
    mock_switches++;
    if (record(current) != old)
        arch_switch(record(current)->switch_handle, &old->switch_handle);
}

static void begin(void *entry, void *slot, void *unused)
{
    (void)unused;
    ((void (*)(unsigned))entry)((unsigned)slot);
}

void z_thread_entry(k_thread_entry_t entry, void *p1, void *p2, void *p3)
{
    entry(p1, p2, p3);
    arch_irq_lock();
    if (thread_abort_hook)
        thread_abort_hook(record(current));
    alive[current] = 0;
    swap();
}

void mock_make(unsigned slot, void (*entry)(unsigned))
{
    unsigned key = arch_irq_lock();
    if (!alive[slot] && mock_may_make(slot)) {
        turn[slot] ^= 1;
        record(slot)->tls = slot;
        arch_new_thread(record(slot), (char *)mock_stacks[slot], (char *)mock_stacks[slot] + sizeof mock_stacks[slot], begin, entry,
                        (void *)slot, 0);
        alive[slot] = 1;
    }
    arch_irq_unlock(key);
}

void mock_kill(unsigned slot)
{
    unsigned key = arch_irq_lock();
    if (alive[slot] && slot != current) {
        if (thread_abort_hook)
            thread_abort_hook(record(slot));
        alive[slot] = 0;
        mock_stack_dead(slot);
    }
    arch_irq_unlock(key);
}

int mock_is_alive(unsigned slot)
{
    return alive[slot];
}

/* By the register of thread-local storage. */
unsigned mock_self(void)
{
    unsigned slot;
    __asm__ volatile("mov %%g7, %0" : "=r"(slot));
    return slot;
}

void mock_yield(void)
{
    unsigned key = arch_irq_lock();
    swap();
    arch_irq_unlock(key);
}

void mock_store_others(void)
{
    if (regwin_store_others)
        regwin_store_others();
}

void z_sparc_enter_irq(uint32_t level)
{
    (void)level;
    _kernel.nested++;
    mock_interrupts++;
    others_run |= program_interrupted();
    _kernel.nested--;
}

void *z_arch_get_next_switch_handle(struct k_thread **old)
{
    *old = record(current);
    if (others_run) {
        others_run = 0;
        current = mock_next(current, alive);
        mock_switches += record(current) != *old;
    }
    return record(current)->switch_handle;
}

void mock_fault(unsigned reason, unsigned tbr, unsigned pc);
void mock_fault(unsigned reason, unsigned tbr, unsigned pc)
{
    if (reason == 4) { /* the thread's own wish: it ends here, as after z_fatal_error */
        if (thread_abort_hook)
            thread_abort_hook(record(current));
        alive[current] = 0;
        swap();
    }
    mock_text("mock: trap ");
    mock_number(tbr >> 4 & 255);
    mock_text(" at ");
    mock_number(pc);
    mock_text("\n");
    mock_stop();
}

void mock_kernel(void);
void mock_kernel(void)
{
    _kernel.irq_stack = mock_irq_stack_end;
    program_begins();
    swap();
}
