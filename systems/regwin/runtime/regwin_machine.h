/* What a program sees of the processor: SPARC V8. Included by regwin.h. */
#ifndef REGWIN_MACHINE_H
#define REGWIN_MACHINE_H

#if defined(__FIX_LEON3FT_B2BST) || defined(__FIX_LEON3FT_TN0018)
#error "regwin: this runtime has no workarounds for the errata of LEON3FT (GRLIB-TN-0009, GRLIB-TN-0018): not for GR712RC, UT699, UT700"
#endif

#if defined(_SOFT_FLOAT) && !defined(THR_SOFT_FLOAT)
#error "regwin: -msoft-float needs __adddf3 and its like, which no compiler of Debian brings for 32-bit SPARC: leave it out \
and use FPU, or link routines of your own and say -DTHR_SOFT_FLOAT"
#endif

/* What a thread's record keeps of it while it is suspended. */
#ifdef SCHEME_ADAPTIVE
#define THR_REGISTERS unsigned psr, wim, sp, pc, refusals, gain;
#else
#define THR_REGISTERS unsigned psr, wim, sp, pc, refusals;
#endif

struct thr;

/* Number of windows less one. */
extern const unsigned window_last;

/* The running thread. */
static inline struct thr *thr_self(void)
{
    struct thr *self;
    __asm__ volatile("mov %%g7, %0" : "=r"(self));
    return self;
}

/* Stores all windows of the running thread but the current one (trap 0x83, `ta 3`): its stack can be read then, by
 * longjmp or by a debugger. */
static inline void thr_flush(void)
{
#ifndef SCHEME_FLAT
    __asm__ volatile("ta 3" : : : "memory");
#endif
}

#ifdef PREEMPT
/* For machine_idle: waits for an interrupt, with the processor in power-down. */
static inline void machine_wait(void)
{
    __asm__ volatile("wr %%g0, %%asr19" : : : "memory");
}
#endif

/* A nop before a loop and one in its body carry its bound. */
#ifdef PREEMPT
#define THR_LOOP(most, ...) THR_LOOP_OF(most, __COUNTER__, __VA_ARGS__)
#define THR_LOOP_OF(most, id, ...) if (THR_MARK(id, most, 1)) {} else __VA_ARGS__ if (THR_MARK(id, 0, 0)) {} else
#define THR_MARK(id, most, enters) __extension__({ __asm__ volatile("995: nop" THR_MARK_IS("%c0", "%c1", #enters) : : "i"(id), "i"(most)); 0; })
#define THR_MARK_IS(id, most, enters) "\n\t.pushsection .loops\n\t.word 995b, " id ", " most ", " enters "\n\t.popsection"
#else
#define THR_LOOP(most, ...) __VA_ARGS__
#endif

/* Lets a program handle a trap that is not the runtime's: `vector` is code, which the table jumps to in the window of the
 * trap, with %psr in %l0 and the type in %l3. Types 2 to 0xff but those of windows, interrupts and
 * `ta 3`, and with FPU 4. THR_REFUSED if it is none of these or taken. Needs the table in RAM,
 * where both linker scripts put it. */
int trap_attach(unsigned type, void (*vector)(void));

#endif
