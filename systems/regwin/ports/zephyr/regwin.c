/* What Zephyr's C must tell: a thread that is made or aborted has no windows any more. */
#include <zephyr/kernel.h>
#include <zephyr/arch/cpu.h>
#include "regwin_port.h"

#ifdef CONFIG_SMP
#error "regwin: one processor only"
#endif
#ifdef CONFIG_FPU_SHARING
#error "regwin: the registers of floating point are not switched: CONFIG_FPU_SHARING=n"
#endif
#ifndef CONFIG_THREAD_ABORT_HOOK
#error "regwin: windows of an aborted thread would be stored on a stack that is another's: CONFIG_THREAD_ABORT_HOOK=y"
#endif
BUILD_ASSERT(CONFIG_SPARC_NWIN >= 4 && CONFIG_SPARC_NWIN <= 32, "regwin: 4 to 32 windows");
BUILD_ASSERT(offsetof(_callee_saved_t, i0) == offsetof(_callee_saved_t, l0_and_l1) + 32 &&
                 offsetof(_callee_saved_t, o6) == offsetof(_callee_saved_t, l0_and_l1) + 64 &&
                 offsetof(_callee_saved_t, o7) == offsetof(_callee_saved_t, o6) + 4,
             "regwin: locals, ins and the last two outs follow each other");

extern void *rw_owner[32], *rw_running;
extern int rw_others;
extern char rw_boot[];

void regwin_thread_gone(struct k_thread *thread)
{
    unsigned int key = arch_irq_lock();
    /* The running thread goes on to a switch that it does not come back from. Under another name, that switch stores all its windows,
     * while its stack is its own. */
    void *owner = thread == rw_running ? rw_boot : 0;
    for (int q = 0; q < CONFIG_SPARC_NWIN; q++)
        if (rw_owner[q] == thread) {
            rw_owner[q] = owner;
            rw_others -= !owner;
        }
    if (thread == rw_running)
        rw_running = owner;
    thread->callee_saved.psr &= ~0x4000u;
    arch_irq_unlock(key);
}

void regwin_store_others(void)
{
    unsigned int key = arch_irq_lock();
    rw_store_others();
    arch_irq_unlock(key);
}

#ifndef CONFIG_REGWIN_OWN_ABORT_HOOK
void thread_abort_hook(struct k_thread *thread)
{
    regwin_thread_gone(thread);
}
#endif

void __real_arch_new_thread(struct k_thread *thread, k_thread_stack_t *stack, char *stack_ptr, k_thread_entry_t entry, void *p1, void *p2,
                            void *p3);
void __wrap_arch_new_thread(struct k_thread *thread, k_thread_stack_t *stack, char *stack_ptr, k_thread_entry_t entry, void *p1, void *p2,
                            void *p3);
void __wrap_arch_new_thread(struct k_thread *thread, k_thread_stack_t *stack, char *stack_ptr, k_thread_entry_t entry, void *p1, void *p2,
                            void *p3)
{
    regwin_thread_gone(thread);
    __real_arch_new_thread(thread, stack, stack_ptr, entry, p1, p2, p3);
}
