/* A mock of RTEMS' kernel: threads in turn, by the contract of RTEMS' score with its SPARC port. */
#include "mock.h"
#include <rtems/score/thread.h>
#include <rtems/score/percpu.h>
#include <rtems/score/userextimpl.h>

#define AT(offset, field) _Static_assert((offset) == offsetof(Context_Control, field), #field)
AT(G7_OFFSET, g7);
AT(L0_OFFSET, l0_and_l1);
AT(O6_SP_OFFSET, o6_sp);
AT(PSR_OFFSET, psr);
AT(ISR_DISPATCH_DISABLE_STACK_OFFSET, isr_dispatch_disable);
AT(SPARC_CONTEXT_CONTROL_FSR_OFFSET, fsr);

typedef struct {
    uint32_t fsr;
    Thread_Control *fp_owner;
    void *stack_low, *stack_high;
    uint32_t isr_nest_level, isr_dispatch_disable, dispatch_disable_level;
    volatile uint8_t dispatch_necessary;
    Thread_Control *executing, *heir;
} Per_CPU_Control;
_Static_assert(PER_CPU_OFFSET_HEIR == offsetof(Per_CPU_Control, heir), "heir");

Per_CPU_Control _Per_CPU_Information;
#define cpu (&_Per_CPU_Information)
static Thread_Control threads[MOCK_THREADS] __attribute__((aligned(8)));
static char alive[MOCK_THREADS];
static User_extensions_Control *extensions;
static void (*entries[MOCK_THREADS])(unsigned);

#pragma weak mock_sysinit
extern void (*const mock_sysinit)(void);
#pragma weak regwin_store_others
void regwin_store_others(void);
extern char mock_irq_stack_end[];
void _SPARC_Interrupt_dispatch(uint32_t source);
void _Thread_Do_dispatch(Per_CPU_Control *self, uint32_t level);

void _User_extensions_Add_set(User_extensions_Control *extension)
{
    extensions = extension;
}

/* By the thread register. */
unsigned mock_self(void)
{
    unsigned slot;
    __asm__ volatile("mov %%g7, %0" : "=r"(slot));
    return slot;
}

static void initialize(unsigned slot);

/* In a thread: the stacks of those that have ended are freed. Interrupts masked. */
static void kill_zombies(void)
{
    for (unsigned slot = 0; slot < MOCK_THREADS; slot++)
        if (threads[slot].is_zombie && &threads[slot] != cpu->executing) {
            if (extensions)
                extensions->Callouts.thread_delete(cpu->executing, &threads[slot]);
            threads[slot].is_zombie = 0;
            mock_stack_dead(slot);
        }
}

static void heir_is_next(void)
{
    unsigned slot = mock_next((unsigned)(cpu->executing - threads), alive);
    if (slot == MOCK_THREADS)
        program_ends();
    cpu->heir = &threads[slot];
    cpu->dispatch_necessary = 1;
}

/* Interrupts masked, and dispatching disabled once. */
void _Thread_Do_dispatch(Per_CPU_Control *self, uint32_t level)
{
    do {
        Thread_Control *executing = self->executing, *heir = self->heir;
        self->dispatch_necessary = 0;
        self->executing = heir;
        if (heir == executing)
            break;
        mock_switches++;
        sparc_enable_interrupts(level);
        _CPU_Context_switch(&executing->Registers, &heir->Registers);
        sparc_disable_interrupts();
        kill_zombies();
    } while (self->dispatch_necessary);
    self->dispatch_disable_level = 0;
    sparc_enable_interrupts(level);
}

static void first(void)
{
    unsigned slot = mock_self();
    sparc_disable_interrupts();
    kill_zombies();
    cpu->dispatch_disable_level = 0;
    sparc_enable_interrupts(0);
    entries[slot](slot);
    uint32_t level = sparc_disable_interrupts();
    if (threads[slot].restarts++ % 3 == 2 && slot != 0) { /* it begins anew, on its own stack */
        cpu->dispatch_disable_level = 1;
        initialize(slot);
        _CPU_Context_restore(&threads[slot].Registers);
    }
    alive[slot] = 0;
    threads[slot].is_zombie = 1;
    cpu->dispatch_disable_level = 1;
    heir_is_next();
    _Thread_Do_dispatch(cpu, level);
}

/* A context as _CPU_Context_Initialize makes it. */
static void initialize(unsigned slot)
{
    Context_Control *context = &threads[slot].Registers;
    uint32_t psr;
    __asm__ volatile("rd %%psr, %0" : "=r"(psr));
    context->o7 = (uint32_t)first - 8;
    context->o6_sp = (uint32_t)mock_stacks[slot] + sizeof mock_stacks[slot] - 96;
    context->i6_fp = 0;
    context->psr = (psr & ~0x1f00u) | (slot == 1 ? SPARC_PSR_EF_MASK : 0); /* one thread computes with floats */
    context->isr_dispatch_disable = 0;
    context->g7 = slot;
}

void mock_make(unsigned slot, void (*entry)(unsigned))
{
    uint32_t level = sparc_disable_interrupts();
    kill_zombies();
    if (!alive[slot] && !threads[slot].is_zombie && mock_may_make(slot)) {
        entries[slot] = entry;
        initialize(slot);
        alive[slot] = 1;
    }
    sparc_enable_interrupts(level);
}

void mock_kill(unsigned slot)
{
    uint32_t level = sparc_disable_interrupts();
    if (alive[slot] && &threads[slot] != cpu->executing) {
        if (cpu->fp_owner == &threads[slot])
            cpu->fp_owner = 0;
        alive[slot] = 0;
        threads[slot].is_zombie = 1;
        if (cpu->heir == &threads[slot])
            heir_is_next();
        kill_zombies();
    }
    sparc_enable_interrupts(level);
}

int mock_is_alive(unsigned slot)
{
    return alive[slot];
}

void mock_yield(void)
{
    uint32_t level = sparc_disable_interrupts();
    cpu->dispatch_disable_level = 1;
    heir_is_next();
    _Thread_Do_dispatch(cpu, level);
}

void mock_store_others(void)
{
    if (regwin_store_others)
        regwin_store_others();
}

/* At the level of the source: those of higher levels nest. */
void _SPARC_Interrupt_dispatch(uint32_t source)
{
    mock_interrupts++;
    int others_run = program_interrupted();
    if (source < 3)
        mock_raise(source + 9);
    uint32_t level = sparc_disable_interrupts();
    if (others_run && alive[cpu->executing - threads])
        heir_is_next();
    sparc_enable_interrupts(level);
}

void mock_kernel(void);
void mock_kernel(void)
{
    cpu->stack_high = mock_irq_stack_end;
    if (&mock_sysinit)
        mock_sysinit();
    program_begins();
    cpu->executing = &threads[0];
    cpu->dispatch_disable_level = 1;
    _SPARC_Start_multitasking(&threads[0].Registers);
}
