/* Deferred work: functions that interrupt handlers leave to a thread. */
#include "kernel.h"

static struct work *first_work, *last_work;
static struct {
    const char *name;
    struct thr_list waiters;
} workers = {.name = "work"};

RUNTIME void work_post(struct work *w)
{
    unsigned before = kernel_enter();
    if (!w->posted) {
        w->posted = 1;
        w->next = 0;
        *(first_work ? &last_work->next : &first_work) = w;
        last_work = w;
        list_wake(&workers.waiters);
    }
    kernel_leave(before);
}

RUNTIME void work_loop(void *unused)
{
    (void)unused;
    for (;;) {
        unsigned before = kernel_enter();
        while (!first_work)
            list_wait(&workers.waiters, &workers, THR_WAITS_ITEM, 0);
        struct work *w = first_work;
        first_work = w->next;
        w->posted = 0;
        kernel_leave(before);
        w->run(w->argument);
    }
}
