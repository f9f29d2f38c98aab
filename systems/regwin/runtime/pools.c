/* Memory pools: blocks of one size. */
#include "kernel.h"

struct block {
    struct block *next;
};

RUNTIME int pool_open(struct pool *p, const char *name, void *memory, unsigned bytes, unsigned n)
{
    unsigned char *at = memory;
    if (((unsigned)memory | bytes) % sizeof(struct block) || bytes == 0)
        return THR_REFUSED;
    semaphore_open(&p->free, name, n);
    p->first = 0;
    for (unsigned i = 0; i < n; i++) {
        struct block *block = (struct block *)(at + i * bytes);
        block->next = p->first;
        p->first = block;
    }
    return 0;
}

/* The semaphore has counted a block for the caller. */
static inline void *unlink(struct pool *p)
{
    unsigned before = kernel_enter();
    struct block *block = p->first;
    p->first = block->next;
    kernel_leave(before);
    return block;
}

RUNTIME void *pool_take(struct pool *p)
{
    semaphore_take(&p->free);
    return unlink(p);
}

RUNTIME void *pool_try(struct pool *p)
{
    return semaphore_try(&p->free) == 0 ? unlink(p) : 0;
}

RUNTIME void pool_give(struct pool *p, void *memory)
{
    struct block *block = memory;
    unsigned before = kernel_enter();
    block->next = p->first;
    p->first = block;
    kernel_leave(before);
    semaphore_give(&p->free);
}

#ifdef PREEMPT
RUNTIME void *pool_take_for(struct pool *p, unsigned ticks)
{
    return semaphore_take_for(&p->free, ticks) == 0 ? unlink(p) : 0;
}
#endif
