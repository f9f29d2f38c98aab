
/* Products in GF(2^128) without tables, branches on data, or instructions for them: integer
   multiplications of each fourth bit, with holes for the carries. An element is two words, the
   less significant first; x^0 is the highest bit, as in GCM. */

/* The low half of a product without carries. At a bit that is kept, at most 15 ones meet below the
   last place. */
static uint64_t low_product(uint64_t x, uint64_t y)
{
    const uint64_t m = UINT64_C(0x1111111111111111);
    uint64_t z = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t sum = 0;
        for (int j = 0; j < 4; j++)
            sum ^= (x & m << j) * (y & m << ((i - j) & 3));
        z |= sum & m << i;
    }
    return z;
}

static uint64_t reversed(uint64_t x)
{
    x = (x & UINT64_C(0x5555555555555555)) << 1 | (x >> 1 & UINT64_C(0x5555555555555555));
    x = (x & UINT64_C(0x3333333333333333)) << 2 | (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4 | (x >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f));
    x = (x & UINT64_C(0x00ff00ff00ff00ff)) << 8 | (x >> 8 & UINT64_C(0x00ff00ff00ff00ff));
    x = (x & UINT64_C(0x0000ffff0000ffff)) << 16 | (x >> 16 & UINT64_C(0x0000ffff0000ffff));
    return x << 32 | x >> 32;
}

/* The factor of all products of a key: its words, their sum, and the same with bits reversed. */
static void set_factor(uint64_t h[6], uint64_t high, uint64_t low)
{
    h[0] = low;
    h[1] = high;
    h[2] = low ^ high;
    for (int i = 0; i < 3; i++)
        h[3 + i] = reversed(h[i]);
}

static void multiply(uint64_t y[2], const uint64_t h[6])
{
    uint64_t w[3] = {y[0], y[1], y[0] ^ y[1]}, r[3] = {reversed(y[0]), reversed(y[1]), 0};
    uint64_t low[3], high[3];
    r[2] = r[0] ^ r[1];
    for (int i = 0; i < 3; i++) {
        low[i] = low_product(w[i], h[i]);
        high[i] = reversed(low_product(r[i], h[3 + i])) >> 1;
    }
    low[2] ^= low[0] ^ low[1];
    high[2] ^= high[0] ^ high[1];
    uint64_t v0 = low[0], v1 = high[0] ^ low[2], v2 = low[1] ^ high[2], v3 = high[1];
    /* Bits are reversed, so that the product is one place lower; x^128 = x^7 + x^2 + x + 1. */
    v3 = v3 << 1 | v2 >> 63;
    v2 = v2 << 1 | v1 >> 63;
    v1 = v1 << 1 | v0 >> 63;
    v0 <<= 1;
    v1 ^= v0 << 63 ^ v0 << 62 ^ v0 << 57;
    v2 ^= v0 ^ v0 >> 1 ^ v0 >> 2 ^ v0 >> 7;
    v2 ^= v1 << 63 ^ v1 << 62 ^ v1 << 57;
    v3 ^= v1 ^ v1 >> 1 ^ v1 >> 2 ^ v1 >> 7;
    y[0] = v2;
    y[1] = v3;
}
