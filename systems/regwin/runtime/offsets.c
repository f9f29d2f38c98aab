/* Where the fields are that assembly names, the simulator and GDB's script: symbols with these values, for the linker to fill in. */
#include "kernel.h"
#include <stddef.h>

#define IS(name, value) __asm__(".global " #name "\n" #name " = %c0" : : "i"(value))
#define FIELD(name, field) IS(TCB_##name, offsetof(struct thr, field))
#define WORD(name, field) IS(OWNER_##name, offsetof(struct windows, field))
/* Read and written as a pair, in this order. */
#define PAIR(first, second) \
    _Static_assert(offsetof(struct thr, first) % 8 == 0 && offsetof(struct thr, second) == offsetof(struct thr, first) + 4, \
                   #first " and " #second " are one double word")

PAIR(psr, wim);
PAIR(sp, pc);
_Static_assert(offsetof(struct windows, owner) == 0, "%g6 points at the owners");
_Static_assert(sizeof(struct windows) < 4096 && sizeof(struct thr) < 4096, "an instruction holds an offset");

/* No code: the linker drops it. */
void offsets(void);
__attribute__((section(".offsets"))) void offsets(void)
{
    FIELD(PSR, psr);
    FIELD(WIM, wim);
    FIELD(SP, sp);
    FIELD(PC, pc);
    FIELD(REFUSE, refusals);
    FIELD(NEXT, next);
    FIELD(HINT, hint);
    FIELD(PEN, patience);
    FIELD(STACK, stack);
    FIELD(NAME, name);
    FIELD(STAMP, stamp);
    FIELD(WAITS_FOR, waits_for);
    FIELD(ALIVE, alive);
    IS(TCB_BYTES, sizeof(struct thr));
    IS(KNOWN_MAX, THR_MAX);
#ifdef FPU
    _Static_assert(offsetof(struct thr, fpu) % 8 == 0, "stored by pairs");
    FIELD(FPU, fpu);
    FIELD(FSR, fsr);
#endif
#ifdef SCHEME_ADAPTIVE
    FIELD(GAIN, gain);
#endif
    WORD(SCRATCH, scratch);
    WORD(LAST, last);
    WORD(OTHERS, others);
    WORD(CREDIT, credit);
    WORD(NARROW, narrow);
    WORD(SPARED, spared);
    WORD(CLOCK, clock);
    WORD(SAMPLES, samples);
    WORD(PAUSED, paused);
    WORD(ROOM, room);
    IS(OWNER_ROOM_END, offsetof(struct windows, room) + sizeof ((struct windows *)0)->room);
}
