/* The console, and what it says of mistakes. */
#include "kernel.h"

static BOOT void byte(unsigned it)
{
    console_byte(it);
}

BOOT void console_text(const char *text)
{
    for (; *text; text++)
        byte((unsigned char)*text);
}

BOOT void console_hex(unsigned value)
{
    for (int shift = 28; shift >= 0; shift -= 4)
        byte("0123456789abcdef"[value >> shift & 15]);
}

BOOT void console_number(unsigned value)
{
    char digits[11];
    unsigned at = 10;
    digits[at] = 0;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    console_text(digits + at);
}

BOOT void bad_trap_report(unsigned trap, unsigned pc, unsigned fp)
{
    console_text("regwin: trap ");
    console_hex(trap);
    console_text(" at ");
    console_hex(pc);
    console_text(" frame ");
    console_hex(fp);
    console_text(" in ");
    console_text(thr_self()->name);
    console_text("\n");
    machine_stop();
}

/* Called by boot.S; this and what it calls have three windows. */
BOOT void too_few_windows_report(void)
{
    console_text("regwin: fewer than 4 windows\n");
    machine_stop();
}

BOOT void stack_overflow_report(void)
{
    console_text("regwin: overflow ");
#ifdef PREEMPT
    console_text(irq_state.depth ? "the stack of interrupts" : thr_self()->name);
#else
    console_text(thr_self()->name);
#endif
    console_text("\n");
    machine_stop();
}
