/* What RTEMS' C must tell: a thread whose stack is about to be freed has no windows any more. */
#include <rtems/score/cpu.h>
#include <rtems/score/thread.h>
#include <rtems/score/userextimpl.h>
#include <rtems/sysinit.h>

#include "regwin_port.h"

extern const void *rw_owner[32];
extern const void *rw_running;
extern int rw_others;

void regwin_thread_gone(Thread_Control *thread)
{
    uint32_t level;
    _CPU_ISR_Disable(level);
    for (int q = 0; q < SPARC_NUMBER_OF_REGISTER_WINDOWS; q++)
        if (rw_owner[q] == &thread->Registers && rw_running != &thread->Registers) {
            rw_owner[q] = 0;
            rw_others--;
        }
    _CPU_ISR_Enable(level);
}

void regwin_store_others(void)
{
    uint32_t level;
    _CPU_ISR_Disable(level);
    rw_store_others();
    _CPU_ISR_Enable(level);
}

/* RTEMS calls this before it frees the stack, never in the thread itself. */
static void thread_deleted(Thread_Control *executing, Thread_Control *deleted)
{
    (void)executing;
    regwin_thread_gone(deleted);
}

static User_extensions_Control extension = {.Callouts = {.thread_delete = thread_deleted}};

static void regwin_begin(void)
{
    _User_extensions_Add_set(&extension);
}

RTEMS_SYSINIT_ITEM(regwin_begin, RTEMS_SYSINIT_INITIAL_EXTENSIONS, RTEMS_SYSINIT_ORDER_LAST);
