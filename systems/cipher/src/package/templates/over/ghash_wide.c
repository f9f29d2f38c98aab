
static uint64_t big64(const uint8_t *p)
{
    uint64_t x = 0;
    for (int i = 0; i < 8; i++)
        x = x << 8 | p[i];
    return x;
}

/* Many blocks: 32 sums, each of every 32nd block, times the same power of the factor. A product
   with a constant is linear: a row of a table has one byte of the products of all 16 values of a
   nibble, a register the same byte of 32 blocks, and a look-up is a shuffle of a register. The
   addresses depend on nothing. */
#ifdef __x86_64__
#include <immintrin.h>

/* The table of a constant: by nibble of the other factor, then by byte of the product. */
static void set_table(uint8_t table[32][16][16], uint64_t high, uint64_t low)
{
    /* Where bit b of the index of a byte is set. */
    static const uint64_t bit[4][2] = {
        {UINT64_C(0xff00ff00ff00ff00), UINT64_C(0xff00ff00ff00ff00)},
        {UINT64_C(0xffff0000ffff0000), UINT64_C(0xffff0000ffff0000)},
        {UINT64_C(0xffffffff00000000), UINT64_C(0xffffffff00000000)},
        {0, UINT64_MAX},
    };
    uint64_t row[16][2];
    for (int nibble = 0; nibble < 32; nibble++) {
        memset(row, 0, sizeof row);
        for (int b = 3; b >= 0; b--) {
            for (int k = 0; k < 16; k++) {
                uint64_t byte = (k < 8 ? high : low) >> (56 - 8 * (k % 8)) & 0xff;
                byte *= UINT64_C(0x0101010101010101);
                row[k][0] ^= byte & bit[b][0];
                row[k][1] ^= byte & bit[b][1];
            }
            /* Times x. */
            uint64_t odd = 0 - (low & 1);
            low = low >> 1 | high << 63;
            high = high >> 1 ^ (odd & UINT64_C(0xe1) << 56);
        }
        memcpy(table[nibble], row, sizeof row);
    }
    wipe(row, sizeof row);
}

/* Makes the tables of the powers 32 and 16, if the target has the instructions. */
static int set_wide(uint8_t wide[2][32][16][16], const uint64_t factor[6], const char *target)
{
    uint64_t power[2] = {factor[0], factor[1]}, own[6];
    if (strcmp(target, "avx2") && strcmp(target, "avx512"))
        return 0;
    for (int i = 1; i <= 5; i++) {
        set_factor(own, power[1], power[0]);
        multiply(power, own);
        if (i >= 4)
            set_table(wide[5 - i], power[1], power[0]);
    }
    wipe(own, sizeof own);
    wipe(power, sizeof power);
    return 1;
}

#define WIDE __attribute__((target("avx2")))

/* Byte k of all blocks times the constant of a table; the caller wipes the product. */
WIDE static void multiply_wide(__m256i x[16], __m256i product[16],
    const uint8_t table[32][16][16])
{
    const __m256i low = _mm256_set1_epi8(15);
    for (int half = 0; half < 16; half += 8) {
        __m256i sum[8];
        for (int k = 0; k < 8; k++)
            sum[k] = _mm256_setzero_si256();
        for (int j = 0; j < 16; j++) {
            __m256i first = _mm256_and_si256(_mm256_srli_epi16(x[j], 4), low);
            __m256i second = _mm256_and_si256(x[j], low);
            for (int k = 0; k < 8; k++) {
                const __m128i *rows[2] = {(const __m128i *)table[2 * j][half + k],
                    (const __m128i *)table[2 * j + 1][half + k]};
                __m256i of_first = _mm256_broadcastsi128_si256(_mm_load_si128(rows[0]));
                __m256i of_second = _mm256_broadcastsi128_si256(_mm_load_si128(rows[1]));
                sum[k] = _mm256_xor_si256(sum[k], _mm256_shuffle_epi8(of_first, first));
                sum[k] = _mm256_xor_si256(sum[k], _mm256_shuffle_epi8(of_second, second));
            }
        }
        memcpy(product + half, sum, sizeof sum);
    }
    memcpy(x, product, 16 * sizeof *product);
}

/* Adds 32 blocks: 16 by 16 bytes change rows and columns in each half of the registers. The last
   byte of a block is the first one in POLYVAL. */
WIDE static void add_wide(__m256i x[16], const uint8_t *in, int is_reversed)
{
    __m256i a[16], b[16];
    for (int i = 0; i < 16; i++) {
        const __m128i *first = (const __m128i *)(in + 16 * i);
        a[i] = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128(first)), _mm_loadu_si128(first + 16), 1);
    }
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 8; i++) {
            b[2 * i] = _mm256_unpacklo_epi8(a[i], a[i + 8]);
            b[2 * i + 1] = _mm256_unpackhi_epi8(a[i], a[i + 8]);
        }
        memcpy(a, b, sizeof b);
    }
    for (int i = 0; i < 16; i++)
        x[i] = _mm256_xor_si256(x[i], a[is_reversed ? 15 - i : i]);
}

/* The first sums may lack blocks, which then are zeros before the first one. */
WIDE static void hash_wide(uint64_t hash[2], const uint64_t factor[6],
    const uint8_t wide[2][32][16][16], const uint8_t *in, size_t n, int is_reversed)
{
    __m256i x[16], folded[16], product[16];
    uint8_t block[16];
    uint8_t first[512] = {0}, *start = first + 512 - 16 * ((n - 1) % 32 + 1);
    size_t n_first = (size_t)(first + 512 - start);
    memcpy(start, in, n_first);
    for (int i = 0; i < 16; i++)
        start[is_reversed ? 15 - i : i] ^= (uint8_t)(hash[i < 8] >> (56 - 8 * (i % 8)));
    memset(x, 0, sizeof x);
    add_wide(x, first, is_reversed);
    for (in += n_first, n -= n_first / 16; n > 0; n -= 32, in += 512) {
        multiply_wide(x, product, wide[0]);
        add_wide(x, in, is_reversed);
    }
    /* The first 16 sums join the others, and these are added one after another. */
    memcpy(folded, x, sizeof x);
    multiply_wide(folded, product, wide[1]);
    hash[0] = hash[1] = 0;
    for (int i = 0; i < 16; i++) {
        for (int k = 0; k < 16; k++)
            block[k] = ((uint8_t *)&folded[k])[i] ^ ((uint8_t *)&x[k])[16 + i];
        hash[0] ^= big64(block + 8);
        hash[1] ^= big64(block);
        multiply(hash, factor);
    }
    wipe(x, sizeof x);
    wipe(folded, sizeof folded);
    wipe(product, sizeof product);
    wipe(block, sizeof block);
    wipe(first, sizeof first);
}
#else
static int set_wide(uint8_t wide[2][32][16][16], const uint64_t factor[6], const char *target)
{
    (void)wide, (void)factor, (void)target;
    return 0;
}

static void hash_wide(uint64_t hash[2], const uint64_t factor[6], const uint8_t wide[2][32][16][16],
    const uint8_t *in, size_t n, int is_reversed)
{
    (void)hash, (void)factor, (void)wide, (void)in, (void)n, (void)is_reversed;
}
#endif
