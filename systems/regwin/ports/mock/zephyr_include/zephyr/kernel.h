/* As much of Zephyr's kernel as the port and the mock use, under Zephyr's names. */
#ifndef MOCK_KERNEL_H
#define MOCK_KERNEL_H
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t y, psr;
    uint64_t l0_and_l1;
    uint32_t l2, l3, l4, l5, l6, l7, i0, i1, i2, i3, i4, i5, i6, i7, o6, o7;
} _callee_saved_t;

struct k_thread {
    uint32_t base[3];
    _callee_saved_t callee_saved;
    void *switch_handle;
    uintptr_t tls;
};
typedef char k_thread_stack_t;
typedef void (*k_thread_entry_t)(void *, void *, void *);
#define BUILD_ASSERT(what, why) _Static_assert(what, why)

void z_sparc_context_switch(struct k_thread *newt, struct k_thread *oldt);
static inline void arch_switch(void *switch_to, void **switched_from)
{
    struct k_thread *oldt = (struct k_thread *)((char *)switched_from - offsetof(struct k_thread, switch_handle));
    z_sparc_context_switch(switch_to, oldt);
}
void arch_new_thread(struct k_thread *thread, k_thread_stack_t *stack, char *stack_ptr, k_thread_entry_t entry, void *p1, void *p2, void *p3);
void thread_abort_hook(struct k_thread *thread);
#endif
