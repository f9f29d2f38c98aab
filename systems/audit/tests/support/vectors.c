/* Loops that compilers turn into vectors, and intrinsics for what they do not find; HALVES: arithmetic on halves, too. */
#include <arm_neon.h>
#include <stdint.h>

#define LOOP(name, type, wide, body)                                                                                           \
    void name(type *restrict a, const type *restrict b, const type *restrict c, wide *restrict d, int n)                       \
    {                                                                                                                          \
        for (int i = 0; i < n; i++) {                                                                                          \
            body;                                                                                                              \
        }                                                                                                                      \
    }

LOOP(add8, uint8_t, uint16_t, a[i] = b[i] + c[i])
LOOP(widen8, uint8_t, uint16_t, d[i] += b[i] * c[i])
LOOP(widen16, int16_t, int32_t, d[i] -= b[i] * c[i])
LOOP(narrow16, uint8_t, uint16_t, a[i] = d[i] >> 3)
LOOP(min32, int32_t, int64_t, a[i] = b[i] < c[i] ? b[i] : c[i])
LOOP(difference, uint8_t, uint16_t, a[i] = b[i] > c[i] ? b[i] - c[i] : c[i] - b[i])
LOOP(logic, uint32_t, uint64_t, a[i] = (b[i] & ~c[i]) | (a[i] ^ 0x00ff0000))
LOOP(shifts, int32_t, int64_t, a[i] = (b[i] << 5) + (c[i] >> 7) + (a[i] >> (b[i] & 7)))
LOOP(choose, float, double, a[i] = b[i] > c[i] ? b[i] : a[i])
LOOP(product, float, double, a[i] = b[i] * c[i] - a[i])
LOOP(convert, float, double, a[i] = (float)(int32_t)b[i] + 1.5f)
LOOP(pairs, uint16_t, uint32_t, a[i] = b[2 * i] - c[2 * i + 1])
LOOP(threes, uint8_t, uint16_t, a[i] = b[3 * i] + b[3 * i + 1] + b[3 * i + 2])
LOOP(fours, uint8_t, uint16_t, a[4 * i] = b[i]; a[4 * i + 1] = c[i]; a[4 * i + 2] = 7; a[4 * i + 3] = b[i])
LOOP(turned, uint32_t, uint64_t, a[i] = __builtin_bswap32(b[n - i]))

int32_t sum(const int16_t *a, int n)
{
    int32_t all = 0;
    for (int i = 0; i < n; i++)
        all += a[i];
    return all;
}

uint8x8_t table(uint8x8x3_t from, uint8x8_t at, uint8x8_t other)
{
    uint8x8x2_t two = {{from.val[0], from.val[1]}};
    return vadd_u8(vtbl3_u8(from, at), vtbx2_u8(other, two, at));
}

int16x8_t saturated(int16x8_t a, int16x4_t b, const int16_t *lane)
{
    int32x4_t wide = vqdmlal_lane_s16(vdupq_n_s32(3), vget_low_s16(a), vld1_lane_s16(lane, b, 2), 3);
    return vcombine_s16(vqrshrn_n_s32(wide, 5), vqmovn_s32(vqabsq_s32(wide)));
}

uint8x16_t moved(uint8x16_t a, uint8x16_t b, uint32_t c)
{
    uint8x16x2_t both = vzipq_u8(vextq_u8(a, b, 5), vrev32q_u8(vcntq_u8(a)));
    return vsetq_lane_u8(c + vgetq_lane_u8(b, 9), vuzpq_u8(both.val[0], vsriq_n_u8(both.val[1], a, 3)).val[1], 4);
}

float32x4_t estimated(float32x4_t a, float32x4_t b)
{
    float32x4_t step = vmulq_f32(vrecpsq_f32(a, vrecpeq_f32(a)), vrsqrtsq_f32(b, vrsqrteq_f32(b)));
    return vbslq_f32(vcageq_f32(a, b), vmlaq_lane_f32(step, a, vget_low_f32(b), 1), vcvtq_n_f32_u32(vcvtq_u32_f32(b), 8));
}

void structures(uint16_t *to, const uint16_t *from)
{
    uint16x8x4_t all = vld4q_u16(from);
    uint16x8x3_t three = {{all.val[3], all.val[0], all.val[2]}};
    vst3q_u16(to, three);
    vst2_lane_u16(to, vld2_dup_u16(from), 1);
    vst4_lane_u16(to, vld4_lane_u16(from, vld4_dup_u16(to), 2), 3);
    vst1q_u16(to, vpadalq_u8(all.val[1], vreinterpretq_u8_u16(all.val[0])));
}

#ifdef HALVES
LOOP(half_product, __fp16, float, a[i] = (_Float16)b[i] * (_Float16)c[i] + (_Float16)a[i])
LOOP(half_quotient, _Float16, float, a[i] = b[i] / c[i] > a[i] ? b[i] : (_Float16)__builtin_sqrtf(c[i]))
LOOP(half_integer, _Float16, int16_t, d[i] = (int16_t)(b[i] - c[i]))

float16_t half(float16x8_t a, float16x8_t b, float16_t c)
{
    float16x8_t it = vfmaq_lane_f16(vabdq_f16(a, b), vrndnq_f16(a), vget_low_f16(b), 3);
    return vmaxvq_f16(vpaddq_f16(it, vrecpeq_f16(b))) + (c > (_Float16)2 ? c : -c) + (_Float16)(int)c;
}
#endif
