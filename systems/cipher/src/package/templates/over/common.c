/* @TITLE@: over the functions of @NAME@.h. Made by meanwhile. */
#include "@MODE@.h"
#include <string.h>

_Static_assert(sizeof(@MODE@_keys) == @N_KEYS@, "the bindings have the size of keys");

/* What a caller is told, a verdict or a tag, is no secret; a check of constant time may say so. */
#ifndef MEANWHILE_PUBLIC
#define MEANWHILE_PUBLIC(value) (value)
#endif

/* Overwrites an object that is no longer needed; the compiler may not leave it out. */
static void wipe(void *object, size_t size)
{
    memset(object, 0, size);
    __asm__ volatile("" : : "r"(object) : "memory");
}

/* What is wrong with an object, or OK. */
static int unfit(const void *object)
{
    if (!object)
        return @UP@_NULL;
    return (uintptr_t)object % 64 != 0 ? @UP@_ALIGNMENT : @UP@_OK;
}

static int overlap(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    const uintptr_t at = (uintptr_t)a, other = (uintptr_t)b;
    return a_size > 0 && b_size > 0 && at < other + b_size && other < at + a_size;
}

void @MODE@_wipe(@MODE@_keys *keys)
{
    if (keys)
        wipe(keys, sizeof *keys);
}
