/* What gcc and clang call by name for ordinary C, besides the division of int64.c: shifts and bits of 64-bit numbers, their conversion
 * to and from floating point, and atomic operations. gcc's own library for SPARC is V9 code. A
 * program links it if it calls one. */
#include "regwin.h"

typedef unsigned u32;
typedef unsigned long long u64;
typedef long long i64;

/* No operation here may be one that the compilers would call a function of this file for. */
union pair {
    u64 whole;
    struct {
        u32 high, low;
    } part;
};

u64 __ashldi3(u64 a, int n);
u64 __lshrdi3(u64 a, int n);
i64 __ashrdi3(i64 a, int n);

u64 __ashldi3(u64 a, int n)
{
    union pair x = {a}, y;
    if (n == 0)
        return a;
    y.part.low = n < 32 ? x.part.low << n : 0;
    y.part.high = n < 32 ? x.part.high << n | x.part.low >> (32 - n) : x.part.low << (n - 32);
    return y.whole;
}

u64 __lshrdi3(u64 a, int n)
{
    union pair x = {a}, y;
    if (n == 0)
        return a;
    y.part.high = n < 32 ? x.part.high >> n : 0;
    y.part.low = n < 32 ? x.part.low >> n | x.part.high << (32 - n) : x.part.high >> (n - 32);
    return y.whole;
}

i64 __ashrdi3(i64 a, int n)
{
    union pair x = {(u64)a}, y;
    int high = (int)x.part.high;
    if (n == 0)
        return a;
    y.part.high = (u32)(n < 32 ? high >> n : high >> 31);
    y.part.low = n < 32 ? x.part.low >> n | x.part.high << (32 - n) : (u32)(high >> (n - 32));
    return (i64)y.whole;
}

/* By halves and by sums of neighbouring bits: a loop over the bits is what compilers make a call of one of these of. */
static inline int leading(u32 a)
{
    int n = 0;
#define HALF(k) if (!(a >> (32 - (k)))) { a <<= (k); n += (k); }
    HALF(16)
    HALF(8)
    HALF(4)
    HALF(2)
    HALF(1)
#undef HALF
    return n;
}

static inline int ones(u32 a)
{
    a -= a >> 1 & 0x55555555;
    a = (a & 0x33333333) + (a >> 2 & 0x33333333);
    a = (a + (a >> 4)) & 0x0f0f0f0f;
    a += a >> 8;
    return (int)((a + (a >> 16)) & 63);
}

static inline int trailing(u32 a)
{
    return 31 - leading(a & -a);
}

int __clzsi2(u32 a);
int __clzdi2(u64 a);
int __ctzsi2(u32 a);
int __ctzdi2(u64 a);
int __ffssi2(u32 a);
int __ffsdi2(u64 a);
int __popcountsi2(u32 a);
int __popcountdi2(u64 a);
int __paritysi2(u32 a);
int __paritydi2(u64 a);
u32 __bswapsi2(u32 a);
u64 __bswapdi2(u64 a);

int __clzsi2(u32 a)
{
    return leading(a);
}

int __clzdi2(u64 a)
{
    union pair x = {a};
    return x.part.high ? leading(x.part.high) : 32 + leading(x.part.low);
}

int __ctzsi2(u32 a)
{
    return trailing(a);
}

int __ctzdi2(u64 a)
{
    union pair x = {a};
    return x.part.low ? trailing(x.part.low) : 32 + trailing(x.part.high);
}

int __ffssi2(u32 a)
{
    return a ? trailing(a) + 1 : 0;
}

int __ffsdi2(u64 a)
{
    union pair x = {a};
    return x.part.low ? trailing(x.part.low) + 1 : x.part.high ? trailing(x.part.high) + 33 : 0;
}

int __popcountsi2(u32 a)
{
    return ones(a);
}

int __popcountdi2(u64 a)
{
    union pair x = {a};
    return ones(x.part.high) + ones(x.part.low);
}

int __paritysi2(u32 a)
{
    return ones(a) & 1;
}

int __paritydi2(u64 a)
{
    union pair x = {a};
    return ones(x.part.high ^ x.part.low) & 1;
}

static inline u32 swapped(u32 a)
{
    u32 halves = (a & 0x00ff00ff) << 8 | (a >> 8 & 0x00ff00ff);
    return halves << 16 | halves >> 16;
}

u32 __bswapsi2(u32 a)
{
    return swapped(a);
}

u64 __bswapdi2(u64 a)
{
    union pair x = {a}, y;
    y.part.high = swapped(x.part.low);
    y.part.low = swapped(x.part.high);
    return y.whole;
}

double __floatundidf(u64 a);
double __floatdidf(i64 a);
float __floatundisf(u64 a);
float __floatdisf(i64 a);
u64 __fixunsdfdi(double a);
i64 __fixdfdi(double a);
u64 __fixunssfdi(float a);
i64 __fixsfdi(float a);

/* Both halves are exact, so the sum is rounded once. */
double __floatundidf(u64 a)
{
    union pair x = {a};
    return (double)x.part.high * 0x1p32 + (double)x.part.low;
}

double __floatdidf(i64 a)
{
    union pair x = {(u64)a};
    return (double)(int)x.part.high * 0x1p32 + (double)x.part.low;
}

/* What a double has no room for becomes one bit that says that there was something, so that rounding twice is rounding once. */
static inline u64 sticky(u64 magnitude)
{
    union pair x = {magnitude};
    if (x.part.high >> 21 && x.part.low & 0x7ff)
        x.part.low = (x.part.low & ~0x7ffu) | 0x800;
    return x.whole;
}

float __floatundisf(u64 a)
{
    return (float)__floatundidf(sticky(a));
}

float __floatdisf(i64 a)
{
    return a < 0 ? -(float)__floatundidf(sticky(-(u64)a)) : (float)__floatundidf(sticky((u64)a));
}

u64 __fixunsdfdi(double a)
{
    union pair x;
    x.part.high = (u32)(a * 0x1p-32);
    x.part.low = (u32)(a - (double)x.part.high * 0x1p32);
    return x.whole;
}

i64 __fixdfdi(double a)
{
    return a < 0 ? (i64)-__fixunsdfdi(-a) : (i64)__fixunsdfdi(a);
}

u64 __fixunssfdi(float a)
{
    return __fixunsdfdi((double)a);
}

i64 __fixsfdi(float a)
{
    return __fixdfdi((double)a);
}

/* Atomic on one processor: no interrupt comes between. */
#ifdef PREEMPT
#define LOCK unsigned before = irq_lock();
#define UNLOCK irq_unlock(before);
#else
#define LOCK
#define UNLOCK
#endif

/* Under another name in C, since the compilers have types of their own for these names. */
#define NAMED(type, name, parameters) \
    type regwin##name parameters __asm__(#name); \
    type regwin##name parameters

#define ORDER int order __attribute__((unused))

/* What was there becomes `then`; both are known as `old` and `now`. */
#define CHANGE(type, name, parameters, then, answer) \
    NAMED(type, name, parameters) \
    { \
        volatile type *place = at; \
        LOCK \
        type old = *place, now = (type)(then); \
        *place = now; \
        UNLOCK \
        (void)old; \
        return answer; \
    }

/* In C11's way and in gcc's older one, which has what was there and what is there then. */
#define ARITHMETIC(type, bytes, word, then) \
    CHANGE(type, __atomic_fetch_##word##_##bytes, (volatile void *at, type by, ORDER), then, old) \
    CHANGE(type, __sync_fetch_and_##word##_##bytes, (volatile void *at, type by), then, old) \
    CHANGE(type, __sync_##word##_and_fetch_##bytes, (volatile void *at, type by), then, now)

#define ATOMIC(type, bytes) \
    NAMED(type, __atomic_load_##bytes, (const volatile void *at, ORDER)) \
    { \
        LOCK \
        type value = *(const volatile type *)at; \
        UNLOCK \
        return value; \
    } \
    NAMED(void, __atomic_store_##bytes, (volatile void *at, type value, ORDER)) \
    { \
        LOCK \
        *(volatile type *)at = value; \
        UNLOCK \
    } \
    NAMED(_Bool, __atomic_compare_exchange_##bytes, \
          (volatile void *at, void *expected, type value, ORDER, int otherwise __attribute__((unused)))) \
    { \
        type *wanted = expected, before = *wanted; \
        *wanted = regwin__sync_val_compare_and_swap_##bytes(at, before, value); \
        return *wanted == before; \
    } \
    NAMED(_Bool, __sync_bool_compare_and_swap_##bytes, (volatile void *at, type wanted, type value)) \
    { \
        return regwin__sync_val_compare_and_swap_##bytes(at, wanted, value) == wanted; \
    } \
    CHANGE(type, __atomic_exchange_##bytes, (volatile void *at, type value, ORDER), value, old) \
    CHANGE(type, __sync_lock_test_and_set_##bytes, (volatile void *at, type value), value, old) \
    ARITHMETIC(type, bytes, add, old + by) \
    ARITHMETIC(type, bytes, sub, old - by) \
    ARITHMETIC(type, bytes, and, old & by) \
    ARITHMETIC(type, bytes, or, old | by) \
    ARITHMETIC(type, bytes, xor, old ^ by) \
    ARITHMETIC(type, bytes, nand, ~(old & by))

/* The one that the other comparisons are made of, before them. */
#define COMPARED(type, bytes) \
    CHANGE(type, __sync_val_compare_and_swap_##bytes, (volatile void *at, type wanted, type value), old == wanted ? value : old, old)

COMPARED(unsigned char, 1)
COMPARED(unsigned short, 2)
COMPARED(u32, 4)
COMPARED(u64, 8)
ATOMIC(unsigned char, 1)
ATOMIC(unsigned short, 2)
ATOMIC(u32, 4)
ATOMIC(u64, 8)
