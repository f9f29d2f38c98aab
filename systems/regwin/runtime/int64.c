/* 64-bit division: the compilers call these by name, and gcc's own library for SPARC is V9 code.
 * A bit of the quotient a step; shifts by one need no helper themselves. */

typedef unsigned long long u64;
typedef long long i64;

u64 __udivdi3(u64 n, u64 d);
u64 __umoddi3(u64 n, u64 d);
i64 __divdi3(i64 n, i64 d);
i64 __moddi3(i64 n, i64 d);

/* Quotient and remainder; a division by zero gives all ones and n. */
static inline u64 divide(u64 n, u64 d, u64 *rest)
{
    u64 r = 0;
    for (int i = 0; i < 64; i++) {
        int carry = (i64)r < 0;
        r = r << 1 | ((i64)n < 0);
        n <<= 1;
        if (carry || r >= d) {
            r -= d;
            n |= 1;
        }
    }
    *rest = r;
    return n;
}

u64 __udivdi3(u64 n, u64 d)
{
    u64 rest;
    return divide(n, d, &rest);
}

u64 __umoddi3(u64 n, u64 d)
{
    u64 rest;
    divide(n, d, &rest);
    return rest;
}

i64 __divdi3(i64 n, i64 d)
{
    u64 rest, q = divide(n < 0 ? -(u64)n : (u64)n, d < 0 ? -(u64)d : (u64)d, &rest);
    return (i64)((n < 0) != (d < 0) ? -q : q);
}

i64 __moddi3(i64 n, i64 d)
{
    u64 rest;
    divide(n < 0 ? -(u64)n : (u64)n, d < 0 ? -(u64)d : (u64)d, &rest);
    return (i64)(n < 0 ? -rest : rest);
}
