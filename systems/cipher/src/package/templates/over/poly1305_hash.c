
/* Poly1305 of RFC 8439 on whole blocks: numbers modulo 2^130 - 5 in limbs of 44 bits where there
   are products of 128 bits, else of 26 bits. hash[0..] is the sum, hash[5..] the factor,
   hash[10..12] the mask of the tag. */

static uint64_t little64(const uint8_t *p)
{
    uint64_t x = 0;
    for (int i = 8; i-- > 0;)
        x = x << 8 | p[i];
    return x;
}

static void put64(uint8_t *p, uint64_t x)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(x >> 8 * i);
}

#ifdef __SIZEOF_INT128__
enum { LIMBS = 3, BITS = 44, TOP = 42 };
__extension__ typedef unsigned __int128 product;
#else
enum { LIMBS = 5, BITS = 26, TOP = 26 };
typedef uint64_t product;
#endif
#define LIMB ((UINT64_C(1) << BITS) - 1)
/* From so many blocks on two at a time are faster, for all that the square takes. */
enum { PAIRS_PAY = 6 };

/* The limbs of a number of 128 bits. */
static void split(uint64_t limb[LIMBS], uint64_t low, uint64_t high)
{
    for (int i = 0; i < LIMBS; i++) {
        int at = i * BITS;
        uint64_t x = at >= 64 ? high >> (at - 64) : at == 0 ? low : low >> at | high << (64 - at);
        limb[i] = x & LIMB;
    }
}

static void set_poly_key(uint64_t *hash, const uint8_t key[32])
{
    memset(hash, 0, 5 * sizeof *hash);
    split(hash + 5, little64(key) & UINT64_C(0x0ffffffc0fffffff),
        little64(key + 8) & UINT64_C(0x0ffffffc0ffffffc));
    hash[10] = little64(key + 16);
    hash[11] = little64(key + 24);
}

/* Adds h times r to a product. */
static inline void add_product(product d[LIMBS], const uint64_t h[LIMBS], const uint64_t r[LIMBS])
{
    /* What passes 2^130 returns five times; limbs of 44 bits have two places more. */
    for (int i = 0; i < LIMBS; i++)
        for (int j = 0; j < LIMBS; j++)
            d[i] += (product)h[j]
                * (j <= i ? r[i - j] : 5 * r[LIMBS + i - j] << (BITS * LIMBS - 130));
}

/* A product as limbs of a few bits more than they should have. */
static inline void carry_product(uint64_t h[LIMBS], product d[LIMBS])
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        int bits = i == LIMBS - 1 ? TOP : BITS;
        d[i] += carry;
        h[i] = (uint64_t)d[i] & ((UINT64_C(1) << bits) - 1);
        carry = (uint64_t)(d[i] >> bits);
    }
    h[0] += 5 * carry;
    h[1] += h[0] >> BITS;
    h[0] &= LIMB;
}

static inline void poly_multiply(uint64_t h[LIMBS], const uint64_t r[LIMBS])
{
    product d[LIMBS] = {0};
    add_product(d, h, r);
    carry_product(h, d);
}

static inline void split_block(uint64_t limb[LIMBS], const uint8_t *in)
{
    split(limb, little64(in), little64(in + 8));
    limb[LIMBS - 1] |= UINT64_C(1) << (128 - BITS * (LIMBS - 1));
}

static void poly_blocks(uint64_t *hash, const uint8_t *in, size_t n)
{
    uint64_t h[LIMBS], r[LIMBS], square[LIMBS], add[2][LIMBS];
    memcpy(h, hash, sizeof h);
    memcpy(r, hash + 5, sizeof r);
    if (n >= PAIRS_PAY) {
        memcpy(square, r, sizeof square);
        poly_multiply(square, r);
        /* The sum times the square, and the second block times the factor, are independent. */
        for (; n >= 2; n -= 2, in += 32) {
            product d[LIMBS] = {0};
            split_block(add[0], in);
            split_block(add[1], in + 16);
            for (int i = 0; i < LIMBS; i++)
                h[i] += add[0][i];
            add_product(d, h, square);
            add_product(d, add[1], r);
            carry_product(h, d);
        }
        wipe(square, sizeof square);
    }
    for (; n > 0; n--, in += 16) {
        split_block(add[0], in);
        for (int i = 0; i < LIMBS; i++)
            h[i] += add[0][i];
        poly_multiply(h, r);
    }
    memcpy(hash, h, sizeof h);
    wipe(h, sizeof h);
    wipe(r, sizeof r);
    wipe(add, sizeof add);
}

static void poly_tag(const uint64_t *hash, uint8_t *tag)
{
    uint64_t h[LIMBS], less[LIMBS], carry = 0;
    memcpy(h, hash, sizeof h);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < LIMBS; i++) {
            int bits = i == LIMBS - 1 ? TOP : BITS;
            h[i] += carry;
            carry = h[i] >> bits;
            h[i] &= (UINT64_C(1) << bits) - 1;
        }
        carry *= 5;
    }
    h[0] += carry;
    /* The number less the prime, that is plus 5 less 2^130, unless that is negative. */
    carry = 5;
    for (int i = 0; i < LIMBS; i++) {
        int bits = i == LIMBS - 1 ? TOP : BITS;
        less[i] = h[i] + carry;
        carry = less[i] >> bits;
        less[i] &= (UINT64_C(1) << bits) - 1;
    }
    uint64_t word[2] = {0, 0};
    for (int i = 0; i < LIMBS; i++) {
        uint64_t x = (h[i] & (carry - 1)) | (less[i] & (0 - carry));
        int at = i * BITS;
        if (at < 64)
            word[0] |= x << at;
        if (at + BITS > 64)
            word[1] |= at < 64 ? x >> (64 - at) : x << (at - 64);
    }
    uint64_t sum = word[0] + hash[10];
    put64(tag, sum);
    put64(tag + 8, word[1] + hash[11] + (sum < hash[10]));
    wipe(h, sizeof h);
    wipe(less, sizeof less);
    wipe(word, sizeof word);
}
