
/* Many blocks: four sums side by side in limbs of 26 bits, each of every fourth block, times the
   fourth power of the factor. */
#if defined(__x86_64__) && defined(__SIZEOF_INT128__)
#include <immintrin.h>

static int is_wide(const char *target)
{
    return !strcmp(target, "avx2") || !strcmp(target, "avx512");
}

#define WIDE __attribute__((target("avx2")))
#define NARROW ((UINT64_C(1) << 26) - 1)

static void to_narrow(uint64_t limb[5], const uint64_t h[3])
{
    uint64_t low = (h[0] >> 26) + (h[1] << 18);
    product high = (low >> 26) + ((product)h[2] << 36);
    limb[0] = h[0] & NARROW;
    limb[1] = low & NARROW;
    limb[2] = (uint64_t)high & NARROW;
    limb[3] = (uint64_t)(high >> 26) & NARROW;
    limb[4] = (uint64_t)(high >> 52);
}

static void from_narrow(uint64_t h[3], const uint64_t limb[5])
{
    product x = limb[0] + ((product)limb[1] << 26);
    h[0] = (uint64_t)x & LIMB;
    x = (x >> 44) + (limb[2] << 8) + ((product)limb[3] << 34);
    h[1] = (uint64_t)x & LIMB;
    x = (x >> 44) + ((product)limb[4] << 16);
    h[2] = (uint64_t)x & ((UINT64_C(1) << 42) - 1);
    h[0] += 5 * (uint64_t)(x >> 42);
}

WIDE static void multiply_wide(__m256i h[5], const __m256i r[5], const __m256i five_r[5])
{
    const __m256i narrow = _mm256_set1_epi64x((long long)NARROW);
    __m256i d[5];
    for (int i = 0; i < 5; i++) {
        d[i] = _mm256_mul_epu32(h[0], r[i]);
        for (int j = 1; j < 5; j++)
            d[i] = _mm256_add_epi64(
                d[i], _mm256_mul_epu32(h[j], j <= i ? r[i - j] : five_r[5 + i - j]));
    }
    for (int i = 0; i < 4; i++) {
        d[i + 1] = _mm256_add_epi64(d[i + 1], _mm256_srli_epi64(d[i], 26));
        h[i] = _mm256_and_si256(d[i], narrow);
    }
    __m256i carry = _mm256_srli_epi64(d[4], 26);
    h[4] = _mm256_and_si256(d[4], narrow);
    carry = _mm256_add_epi64(carry, _mm256_slli_epi64(carry, 2));
    h[0] = _mm256_add_epi64(h[0], carry);
    h[1] = _mm256_add_epi64(h[1], _mm256_srli_epi64(h[0], 26));
    h[0] = _mm256_and_si256(h[0], narrow);
}

/* Four blocks; those of a register are 0, 2, 1, 3. */
WIDE static void add_wide(__m256i h[5], const uint8_t *in)
{
    const __m256i narrow = _mm256_set1_epi64x((long long)NARROW);
    __m256i first = _mm256_loadu_si256((const __m256i *)in);
    __m256i second = _mm256_loadu_si256((const __m256i *)(in + 32));
    __m256i low = _mm256_unpacklo_epi64(first, second);
    __m256i high = _mm256_unpackhi_epi64(first, second);
    __m256i middle = _mm256_or_si256(_mm256_srli_epi64(low, 52), _mm256_slli_epi64(high, 12));
    const __m256i limb[5] = {_mm256_and_si256(low, narrow),
        _mm256_and_si256(_mm256_srli_epi64(low, 26), narrow), _mm256_and_si256(middle, narrow),
        _mm256_and_si256(_mm256_srli_epi64(high, 14), narrow),
        _mm256_or_si256(_mm256_srli_epi64(high, 40), _mm256_set1_epi64x(1 << 24))};
    for (int i = 0; i < 5; i++)
        h[i] = _mm256_add_epi64(h[i], limb[i]);
}

/* A multiple of four blocks, with the sum so far before the first. */
WIDE static void poly_wide(uint64_t *hash, const uint8_t *in, size_t n)
{
    uint64_t power[4][3], limb[4][5], lanes[4], sum[5];
    __m256i h[5], r[5], five_r[5];
    memcpy(power[0], hash + 5, sizeof power[0]);
    for (int i = 1; i < 4; i++) {
        memcpy(power[i], power[i - 1], sizeof power[i]);
        poly_multiply(power[i], power[0]);
    }
    for (int i = 0; i < 4; i++)
        to_narrow(limb[i], power[i]);
    to_narrow(sum, hash);
    for (int i = 0; i < 5; i++) {
        r[i] = _mm256_set1_epi64x((long long)limb[3][i]);
        five_r[i] = _mm256_set1_epi64x((long long)(5 * limb[3][i]));
        h[i] = _mm256_set_epi64x(0, 0, 0, (long long)sum[i]);
    }
    add_wide(h, in);
    for (in += 64, n -= 4; n > 0; n -= 4, in += 64) {
        multiply_wide(h, r, five_r);
        add_wide(h, in);
    }
    for (int i = 0; i < 5; i++) {
        const long long by_lane[4] = {(long long)limb[3][i], (long long)limb[1][i],
            (long long)limb[2][i], (long long)limb[0][i]};
        r[i] = _mm256_loadu_si256((const __m256i *)by_lane);
        five_r[i] = _mm256_add_epi64(r[i], _mm256_slli_epi64(r[i], 2));
    }
    multiply_wide(h, r, five_r);
    for (int i = 0; i < 5; i++) {
        _mm256_storeu_si256((__m256i *)lanes, h[i]);
        sum[i] = lanes[0] + lanes[1] + lanes[2] + lanes[3];
    }
    from_narrow(hash, sum);
    wipe(power, sizeof power);
    wipe(limb, sizeof limb);
    wipe(lanes, sizeof lanes);
    wipe(sum, sizeof sum);
    wipe(h, sizeof h);
    wipe(r, sizeof r);
    wipe(five_r, sizeof five_r);
}
#else
static int is_wide(const char *target)
{
    (void)target;
    return 0;
}

static void poly_wide(uint64_t *hash, const uint8_t *in, size_t n)
{
    poly_blocks(hash, in, n);
}
#endif
