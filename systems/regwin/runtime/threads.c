/* Threads: made, finished, and what is said when none can run. */
#include "kernel.h"

#ifdef FPU
/* The thread whose values the floating point registers hold; 0: none's. */
extern struct thr *fpu_owner;
#endif

extern unsigned boot_stack[];
#ifdef THR_TLS
#define RECORD(symbol, ...) struct thr_tls symbol##_tls = {.mark = THR_TLS_MARK, .thr = {__VA_ARGS__}}
#else
#define RECORD(symbol, ...) struct thr symbol = {__VA_ARGS__}
#endif
#ifdef SCHEME_ADAPTIVE
RECORD(thr_boot, .name = "boot", .stack = boot_stack, .gain = GAIN_FIRST);
#else
RECORD(thr_boot, .name = "boot", .stack = boot_stack);
#endif
static unsigned idle_stack[512] __attribute__((aligned(8)));
/* Those that have not ended, and those that ended with a broken guard; 0 where there is room. */
static struct thr *known[THR_MAX];

void thr_entry(void);
void machine_idle(void *);

#include "first_frame.h"

#ifdef PRIORITIES
RECORD(thr_idle, .name = "idle", .next = &thr_idle, .priority = THR_PRIORITIES, .base = THR_PRIORITIES);
#else
RECORD(thr_idle, .name = "idle", .next = &thr_idle);
#endif

#ifdef THR_TLS
#define IN_FRONT __builtin_offsetof(struct thr_tls, thr)
/* No code: the linker drops it. */
void records(void);
__attribute__((section(".offsets"))) void records(void)
{
    __asm__(".global thr_boot, thr_idle\n thr_boot = thr_boot_tls + %c0\n thr_idle = thr_idle_tls + %c0" : : "i"(IN_FRONT));
}

/* What variables have at first, and how many bytes of it are not 0: the linker script says. */
extern const unsigned char __tls_image[], __tls_image_end[], __tls_end[];

static BOOT void tls_begin(struct thr *t)
{
    unsigned n_image = (unsigned)(__tls_image_end - __tls_image), n = (unsigned)(__tls_end - __tls_image + 7) & ~7u;
    unsigned char *to = (unsigned char *)t - n;
    THR_LOOP(THR_TLS + 7, for (unsigned i = 0; i < n; i++))
        to[i] = i < n_image ? __tls_image[i] : 0;
}

static inline int has_tls(const struct thr *t)
{
    return *(const unsigned *)((const char *)t - IN_FRONT) == THR_TLS_MARK;
}
#else
#define has_tls(t) 1
#define tls_begin(t)
#endif

/* Constructors of C++, in the linker's order. */
typedef void constructor(void);
extern constructor *__init_array_start[], *__init_array_end[];

/* Called by boot.S. main may make no thread. */
void thr_begin(void);
BOOT void thr_begin(void)
{
    first_frame(&thr_idle, idle_stack, sizeof idle_stack, machine_idle, 0);
    tls_begin(&thr_boot);
    tls_begin(&thr_idle);
    for (constructor **it = __init_array_start; it != __init_array_end; it++)
        (*it)();
}

static BOOT int create(struct thr *t, unsigned priority, const char *name, void *stack, unsigned bytes, void (*entry)(void *),
                       void *argument)
{
    unsigned slot = THR_MAX;
    THR_LOOP(THR_MAX, for (unsigned i = THR_MAX; i-- > 0;)) {
        if (!known[i])
            slot = i;
        else if (known[i] == t && t->alive)
            return THR_REFUSED;
    }
    if (slot == THR_MAX || bytes < THR_STACK_MIN || bytes > -(unsigned)stack || (unsigned)stack % 8 || !entry || !has_tls(t))
        return THR_REFUSED;
    tls_begin(t);
    known[slot] = t;
    t->slot = slot;
    t->name = name;
    t->waits_for = THR_RUNS;
    t->alive = 1;
    t->in = 0;
    t->joiners.first = t->joiners.last = 0;
    t->local = 0;
#ifdef PRIORITIES
    t->priority = t->base = priority;
    t->held = 0;
#else
    (void)priority;
#endif
#ifdef PREEMPT
    t->timed = 0;
#endif
#ifdef FPU
    THR_LOOP(32, for (unsigned i = 0; i < 32; i++))
        t->fpu[i] = 0;
    t->fsr = 0;
#endif
    first_frame(t, stack, bytes & ~7u, entry, argument);
    ready_push(t);
    return 0;
}

#ifdef PRIORITIES
BOOT int thr_create_at(unsigned priority, struct thr *t, const char *name, void *stack, unsigned bytes, void (*entry)(void *),
                       void *argument)
{
    if (priority >= THR_PRIORITIES)
        return THR_REFUSED;
    unsigned before = kernel_enter();
    int result = create(t, priority, name, stack, bytes, entry, argument);
    kernel_leave(before);
    return result;
}

BOOT int thr_create(struct thr *t, const char *name, void *stack, unsigned bytes, void (*entry)(void *), void *argument)
{
    return thr_create_at(THR_PRIORITY, t, name, stack, bytes, entry, argument);
}
#else
BOOT int thr_create(struct thr *t, const char *name, void *stack, unsigned bytes, void (*entry)(void *), void *argument)
{
    unsigned before = kernel_enter();
    int result = create(t, 0, name, stack, bytes, entry, argument);
    kernel_leave(before);
    return result;
}
#endif

/* Called by thr_entry when a thread's function has returned; interrupts are masked from here to the next thread. What is not said of its stack now is never said: the memory
 * may be used for something else. */
RUNTIME void thr_finished(void)
{
    struct thr *t = thr_self();
    kernel_enter();
    t->alive = 0;
#ifdef PRIORITIES
    t->queued = 0;
#endif
#ifdef FPU
    if (fpu_owner == t)
        fpu_owner = 0;
#endif
    if (t->stack[0] == THR_GUARD)
        known[t->slot] = 0;
    THR_LOOP(THR_MAX, while (list_wake(&t->joiners)))
        ;
}

RUNTIME int thr_join(struct thr *t)
{
    if (t == thr_self())
        return THR_REFUSED;
    unsigned before = kernel_enter();
    if (t->alive)
        list_wait(&t->joiners, &t->name, THR_WAITS_END, 0);
    kernel_leave(before);
    return 0;
}

BOOT unsigned thr_alive(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < THR_MAX; i++)
        n += known[i] && known[i]->alive;
    return n;
}

static BOOT const char *what(const struct thr *t)
{
    static const char *const whats[] = {
        [THR_RUNS] = " is suspended",
        [THR_WAITS_BYTES] = " waits for bytes in ",
        [THR_WAITS_ROOM] = " waits for room in ",
        [THR_WAITS_SEMAPHORE] = " waits for ",
        [THR_WAITS_MUTEX] = " waits for ",
        [THR_WAITS_ITEM] = " waits for a message in ",
        [THR_WAITS_SPACE] = " waits for space in ",
        [THR_WAITS_END] = " waits for the end of ",
        [THR_WAITS_TIME] = " waits for ",
    };
    return whats[t->waits_for];
}

/* No thread is ready: all have finished, or all wait. */
BOOT void thr_report(void)
{
    unsigned n_alive = 0, n_broken = 0;
    for (unsigned i = 0; i < THR_MAX; i++) {
        const struct thr *t = known[i];
        if (!t)
            continue;
        if (!t->alive || t->stack[0] != THR_GUARD) {
            console_text("regwin: overflow ");
            console_text(t->name);
            console_text("\n");
            n_broken++;
        }
        n_alive += (unsigned)t->alive;
    }
    if (n_alive == 0 && n_broken == 0) {
        console_text("regwin: done\n");
        return;
    }
    for (unsigned i = 0; i < THR_MAX; i++) {
        const struct thr *t = known[i];
        if (!t || !t->alive)
            continue;
        console_text("regwin: stuck ");
        console_text(t->name);
        console_text(what(t));
        console_text(t->waits_for == THR_RUNS ? "" : *(const char *const *)t->waits);
        console_text("\n");
    }
}
