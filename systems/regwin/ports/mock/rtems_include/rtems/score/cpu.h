/* As much of RTEMS' C headers as the port and the mock use, under RTEMS' names. */
#ifndef MOCK_CPU_H
#define MOCK_CPU_H
#include <stddef.h>
#include <stdint.h>
#include <rtems/asm.h>

typedef struct {
    uint32_t g5, g7;
    double l0_and_l1;
    uint32_t l2, l3, l4, l5, l6, l7, i0, i1, i2, i3, i4, i5, i6_fp, i7, o6_sp, o7, psr, isr_dispatch_disable, fsr;
} Context_Control;

void _CPU_Context_switch(Context_Control *executing, Context_Control *heir);
void _CPU_Context_restore(Context_Control *heir) __attribute__((noreturn));
void _SPARC_Start_multitasking(Context_Control *heir) __attribute__((noreturn));

/* Masked by a trap; the level before. */
static inline uint32_t sparc_disable_interrupts(void)
{
    register uint32_t psr __asm__("g1");
    __asm__ volatile("ta 9\n nop" : "=r"(psr) : : "memory");
    return psr;
}
static inline void sparc_enable_interrupts(uint32_t before)
{
    register uint32_t psr __asm__("g1") = before;
    __asm__ volatile("ta 10\n nop" : : "r"(psr) : "memory");
}
#define _CPU_ISR_Disable(level) ((level) = sparc_disable_interrupts())
#define _CPU_ISR_Enable(level) sparc_enable_interrupts(level)
#endif
