/* The locks of newlib and picolibc, which both call retargetable: each is a mutex that its owner may take again.
 *
 * Not weak: the libraries bring locks that do nothing, in one file, and a library that asks for one
 * that is not here shall fail to link instead of taking all of those. */
#include "regwin.h"

struct __lock {
    struct mutex mutex;
    unsigned depth; /* how often its owner has it; the owner's */
};

#define LOCK(symbol, is) struct __lock __lock___##symbol = {.mutex = {.name = is}}
LOCK(libc_recursive_mutex, "the C library");
LOCK(malloc_recursive_mutex, "malloc");
LOCK(sfp_recursive_mutex, "the list of files");
LOCK(sinit_recursive_mutex, "the making of files");
LOCK(atexit_recursive_mutex, "atexit");
LOCK(at_quick_exit_mutex, "at_quick_exit");
LOCK(env_recursive_mutex, "the environment");
LOCK(tz_mutex, "the time zone");
LOCK(dd_hash_mutex, "folders");
LOCK(arc4random_mutex, "arc4random");

void *malloc(unsigned long bytes);
void free(void *block);

static __attribute__((noreturn)) void stop(const char *what, const char *name)
{
    console_text("regwin: ");
    console_text(what);
    console_text(name);
    console_text("\n");
    machine_stop();
}

static void open(struct __lock **it)
{
    *it = malloc(sizeof **it);
    if (!*it)
        stop("no memory for a lock", "");
    mutex_open(&(*it)->mutex, "a lock of the C library");
    (*it)->depth = 0;
}

static void acquire(struct __lock *it)
{
    /* Only the running thread makes itself the owner, so this cannot change meanwhile. */
    if (it->mutex.owner != thr_self() && mutex_lock(&it->mutex) != 0)
        stop("threads wait in a circle for ", it->mutex.name);
    it->depth++;
}

/* As newlib's own: not 0 if it has it. */
static int try(struct __lock *it)
{
    if (it->mutex.owner != thr_self() && mutex_try(&it->mutex) != 0)
        return 0;
    it->depth++;
    return 1;
}

static void release(struct __lock *it)
{
    if (--it->depth == 0)
        mutex_unlock(&it->mutex);
}

/* Those of both kinds are the same. */
#define NAMED(type, name, parameters, ...) \
    type __retarget_lock_##name parameters; \
    type __retarget_lock_##name parameters { __VA_ARGS__; } \
    type __retarget_lock_##name##_recursive parameters; \
    type __retarget_lock_##name##_recursive parameters { __VA_ARGS__; }
NAMED(void, init, (struct __lock **it), open(it))
NAMED(void, close, (struct __lock *it), free(it))
NAMED(void, acquire, (struct __lock *it), acquire(it))
NAMED(int, try_acquire, (struct __lock *it), return try(it))
NAMED(void, release, (struct __lock *it), release(it))
