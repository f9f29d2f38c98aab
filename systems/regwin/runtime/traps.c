/* Traps that the program handles. */
#include "kernel.h"

extern unsigned trap_table[256][4];
#ifdef SCHEME_ADAPTIVE
extern unsigned trap_table_lone[256][4];
#endif
void bad_trap(void);

/* True if a vector goes to bad_trap. */
static BOOT int is_free(const unsigned *vector)
{
    unsigned displacement = ((unsigned)bad_trap - (unsigned)vector) / 4;
    return vector[0] == (0x10800000u | (displacement & 0x3fffffu));
}

static BOOT void set(unsigned *vector, unsigned type, unsigned to)
{
    const unsigned words[4] = {
        0xa1480000u,                    /* rd %psr, %l0 */
        0x29000000u | to >> 10,         /* sethi %hi(to), %l4 */
        0x81c52000u | (to & 0x3ffu),    /* jmp %l4 + %lo(to) */
        0xa6102000u | type,             /* mov type, %l3 */
    };
    for (unsigned i = 4; i-- > 0;) {
        vector[i] = words[i];
        __asm__ volatile("flush %0" : : "r"(vector + i) : "memory");
    }
}

BOOT int trap_attach(unsigned type, void (*vector)(void))
{
    if (type < 2 || type > 255 || !is_free(trap_table[type]))
        return THR_REFUSED;
    set(trap_table[type], type, (unsigned)vector);
#ifdef SCHEME_ADAPTIVE
    set(trap_table_lone[type], type, (unsigned)vector);
#endif
    return 0;
}
