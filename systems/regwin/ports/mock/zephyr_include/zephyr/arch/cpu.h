/* Interrupts masked by a trap, as in Zephyr. */
static inline unsigned int set_pil(unsigned int level)
{
    register uint32_t o0 __asm__("o0") = level;
    __asm__ volatile("ta 9\n nop" : "+r"(o0) : : "memory");
    return o0;
}
#define arch_irq_lock() set_pil(15)
#define arch_irq_unlock(key) set_pil(key)
