
/* With @LANES@ of the eight sums in a register. */
typedef uint64_t vec_@S@ __attribute__((vector_size(8 * @LANES@)));

__attribute__((target("@TARGET@")))
static inline void multiply_@S@(vec_@S@ h[5], const vec_@S@ r[5], const vec_@S@ five_r[5])
{
    vec_@S@ d[5];
    for (int i = 0; i < 5; i++) {
        d[i] = (vec_@S@)@V@mul_epu32((@T@)h[0], (@T@)r[i]);
        for (int j = 1; j < 5; j++)
            d[i] += (vec_@S@)@V@mul_epu32(
                (@T@)h[j], (@T@)(j <= i ? r[i - j] : five_r[5 + i - j]));
    }
    /* Two chains of carries: from limb 3 by way of 4, which returns five times, and from 0. */
    d[4] += d[3] >> 26;
    d[1] += d[0] >> 26;
    h[3] = d[3] & NARROW;
    h[0] = d[0] & NARROW;
    d[2] += d[1] >> 26;
    h[0] += (d[4] >> 26) * 5;
    h[1] = d[1] & NARROW;
    h[4] = d[4] & NARROW;
    h[3] += d[2] >> 26;
    h[1] += h[0] >> 26;
    h[2] = d[2] & NARROW;
    h[0] &= NARROW;
    h[4] += h[3] >> 26;
    h[3] &= NARROW;
}

/* Eight blocks. */
__attribute__((target("@TARGET@")))
static inline void add_@S@(vec_@S@ h[8 / @LANES@][5], const uint8_t *in)
{
    for (int s = 0; s < 8 / @LANES@; s++, in += 16 * @LANES@) {
        vec_@S@ first, second;
        memcpy(&first, in, sizeof first);
        memcpy(&second, in + sizeof first, sizeof second);
        vec_@S@ low = (vec_@S@)@V@unpacklo_epi64((@T@)first, (@T@)second);
        vec_@S@ high = (vec_@S@)@V@unpackhi_epi64((@T@)first, (@T@)second);
        h[s][0] += low & NARROW;
        h[s][1] += low >> 26 & NARROW;
        h[s][2] += (low >> 52 | high << 12) & NARROW;
        h[s][3] += high >> 14 & NARROW;
        h[s][4] += high >> 40 | UINT64_C(1) << 24;
    }
}

/* A multiple of eight blocks, with the sum so far before the first. */
__attribute__((target("@TARGET@")))
static void poly_@S@(uint64_t *hash, const uint8_t *in, size_t n)
{
    /* The block of each lane, of those in a register. */
    static const int block[@LANES@] = {@ORDER@};
    uint64_t limb[8][5], sum[5], lanes[@LANES@];
    vec_@S@ h[8 / @LANES@][5] = {{{0}}}, r[5], five_r[5];
    make_powers(limb, hash + 5);
    to_narrow(sum, hash);
    for (int i = 0; i < 5; i++) {
        r[i] = (vec_@S@){0} + limb[7][i];
        five_r[i] = r[i] * 5;
        h[0][i][0] = sum[i];
        sum[i] = 0;
    }
    add_@S@(h, in);
    for (in += 128, n -= 8; n > 0; n -= 8, in += 128) {
        for (int s = 0; s < 8 / @LANES@; s++)
            multiply_@S@(h[s], r, five_r);
        add_@S@(h, in);
    }
    for (int s = 0; s < 8 / @LANES@; s++) {
        for (int i = 0; i < 5; i++) {
            for (int k = 0; k < @LANES@; k++)
                lanes[k] = limb[7 - @LANES@ * s - block[k]][i];
            memcpy(&r[i], lanes, sizeof lanes);
            five_r[i] = r[i] * 5;
        }
        multiply_@S@(h[s], r, five_r);
        for (int i = 0; i < 5; i++) {
            memcpy(lanes, &h[s][i], sizeof lanes);
            for (int k = 0; k < @LANES@; k++)
                sum[i] += lanes[k];
        }
    }
    from_narrow(hash, sum);
    wipe(limb, sizeof limb);
    wipe(sum, sizeof sum);
    wipe(lanes, sizeof lanes);
    wipe(h, sizeof h);
    wipe(r, sizeof r);
    wipe(five_r, sizeof five_r);
}
