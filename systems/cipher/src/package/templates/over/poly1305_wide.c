
/* Many blocks: eight sums side by side in limbs of 26 bits, each of every eighth block, times the
   eighth power of the factor. */
#if defined(__x86_64__) && defined(__SIZEOF_INT128__)
#include <immintrin.h>

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

/* The first eight powers of the factor. */
static void make_powers(uint64_t limb[8][5], const uint64_t r[3])
{
    uint64_t power[8][3];
    memcpy(power[0], r, sizeof power[0]);
    for (int i = 1; i < 8; i++) {
        /* From powers that are there as early as can be. */
        int half = i < 2 ? 0 : i < 4 ? 1 : 3;
        memcpy(power[i], power[half], sizeof power[i]);
        poly_multiply(power[i], power[i - half - 1]);
    }
    for (int i = 0; i < 8; i++)
        to_narrow(limb[i], power[i]);
    wipe(power, sizeof power);
}
@POLY_AVX2@@POLY_AVX512@
/* 0: not here; else what the target has. */
static int is_wide(const char *target)
{
    return !strcmp(target, "avx512") ? 2 : !strcmp(target, "avx2");
}

static void poly_wide(uint64_t wide, uint64_t *hash, const uint8_t *in, size_t n)
{
    (wide == 2 ? poly_avx512 : poly_avx2)(hash, in, n);
}
#else
static int is_wide(const char *target)
{
    (void)target;
    return 0;
}

static void poly_wide(uint64_t wide, uint64_t *hash, const uint8_t *in, size_t n)
{
    (void)wide;
    poly_blocks(hash, in, n);
}
#endif
