/* What both mock kernels share: LEON3's serial port, timer and interrupt controller, stacks, and whose turn it is. */
#include "mock.h"

#define UART ((volatile unsigned *)0x80000100u)
#define IRQMP ((volatile unsigned *)0x80000200u)
#define TIMER ((volatile unsigned *)0x80000310u)
enum { IRQ_FORCE = 2, IRQ_MASK = 16, TIMER_RELOAD = 1, TIMER_CONTROL = 2 };

unsigned mock_stacks[MOCK_THREADS][MOCK_STACK_WORDS] __attribute__((aligned(16)));
unsigned mock_switches, mock_interrupts;

void mock_text(const char *text)
{
    UART[2] = 3;
    for (; *text; text++) {
        while (!(UART[1] & 4))
            ;
        UART[0] = (unsigned char)*text;
    }
}

void mock_number(unsigned value)
{
    char text[11], *at = text + sizeof text;
    *--at = 0;
    do
        *--at = (char)('0' + value % 10);
    while (value /= 10);
    mock_text(at);
}

void mock_stop(void)
{
    __asm__ volatile("wr %g0, 0xc0, %psr\n nop\n nop\n nop\n ta 0");
    __builtin_unreachable();
}

void mock_bad_trap(unsigned type, unsigned pc);
void mock_bad_trap(unsigned type, unsigned pc)
{
    mock_text("mock: trap ");
    mock_number(type);
    mock_text(" at ");
    mock_number(pc);
    mock_text("\n");
    mock_stop();
}

void mock_ticks(unsigned ticks)
{
    IRQMP[IRQ_MASK] = 0x7ffe; /* all of them */
    TIMER[TIMER_CONTROL] = 0;
    TIMER[TIMER_RELOAD] = ticks - 1;
    TIMER[TIMER_CONTROL] = ticks ? 15 : 0;
}

void mock_raise(unsigned level)
{
    IRQMP[IRQ_FORCE] |= 1u << level;
}

unsigned mock_next(unsigned slot, const char *is_alive)
{
    for (unsigned i = 1; i <= MOCK_THREADS; i++)
        if (is_alive[(slot + i) % MOCK_THREADS])
            return (slot + i) % MOCK_THREADS;
    return MOCK_THREADS;
}

/* Nothing may write into the stack of a thread that has ended. */
#define DEAD(i) (0xdead0000u + (i))
enum { NEVER_WAS, IS_FILLED, WAS_USED };
static char stack_state[MOCK_THREADS];

void mock_stack_dead(unsigned slot)
{
    for (unsigned i = 0; i < MOCK_STACK_WORDS; i++)
        mock_stacks[slot][i] = DEAD(i);
    stack_state[slot] = IS_FILLED;
}

/* Interrupts masked. */
int mock_may_make(unsigned slot)
{
    if (stack_state[slot] == WAS_USED) {
        mock_stack_dead(slot);
        return 0;
    }
    for (unsigned i = 0; i < MOCK_STACK_WORDS; i++)
        if (mock_stacks[slot][i] != (stack_state[slot] == NEVER_WAS ? 0 : DEAD(i))) {
            mock_text("mock: the stack of a thread that had ended was written\n");
            mock_stop();
        }
    stack_state[slot] = WAS_USED;
    return 1;
}

/* What compilers call by name. */
void *memset(void *to, int byte, unsigned long n);
void *memset(void *to, int byte, unsigned long n)
{
    volatile unsigned char *t = to;
    while (n--)
        *t++ = (unsigned char)byte;
    return to;
}
