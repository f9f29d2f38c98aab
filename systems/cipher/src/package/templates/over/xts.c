
/* XTS: each block has the product of the tweak and a power of x before and after the cipher, and
   the last part of a block takes what it lacks from the one before it. */
enum { AT_ONCE = 16 * @WIDTH@ };

int @MODE@_expand(@MODE@_keys *keys, const char *target, const uint8_t *key, size_t key_size)
{
    int code = unfit(keys);
    if (code)
        return code;
    if (key_size != @N_KEY@)
        return @UP@_LENGTH;
    if (!key)
        return @UP@_NULL;
    uint32_t differ = 0;
    for (int i = 0; i < @N_KEY@ / 2; i++)
        differ |= (uint32_t)(key[i] ^ key[@N_KEY@ / 2 + i]);
    if (MEANWHILE_PUBLIC(differ == 0))
        return @UP@_KEY;
    code = @NAME@_expand(&keys->cipher, target, key, @N_KEY@ / 2);
    if (!code)
        code = @NAME@_expand(&keys->of_tweaks, target, key + @N_KEY@ / 2, @N_KEY@ / 2);
    return code ? code : @NAME@_decrypt_expand(&keys->inverse, target, key, @N_KEY@ / 2);
}

/* The product with x: the first byte is the least significant. */
static void double_it(uint8_t *t)
{
    uint8_t carry = 0;
    for (int i = 0; i < 16; i++) {
        uint8_t next = t[i] >> 7;
        t[i] = (uint8_t)(t[i] << 1 | carry);
        carry = next;
    }
    t[0] ^= (uint8_t)(0x87 & (0 - carry));
}

/* Whole blocks, the first with this tweak, which becomes that of the block behind them. */
static void run(const @MODE@_keys *keys, int is_inverse, uint8_t *tweak, const uint8_t *in,
    uint8_t *out, size_t n)
{
    uint8_t tweaks[AT_ONCE], text[AT_ONCE];
    for (size_t now; n > 0; n -= now, in += now, out += now) {
        now = n < AT_ONCE ? n : AT_ONCE;
        for (size_t i = 0; i < now; i += 16) {
            memcpy(tweaks + i, tweak, 16);
            double_it(tweak);
        }
        for (size_t i = 0; i < now; i++)
            text[i] = in[i] ^ tweaks[i];
        if (is_inverse)
            @NAME@_decrypt_blocks(&keys->inverse, text, now, text, now);
        else
            @NAME@_blocks(&keys->cipher, text, now, text, now);
        for (size_t i = 0; i < now; i++)
            out[i] = text[i] ^ tweaks[i];
    }
    wipe(tweaks, sizeof tweaks);
    wipe(text, sizeof text);
}

static int sector(const @MODE@_keys *keys, int is_inverse, const uint8_t *tweak,
    size_t tweak_size, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    int code = unfit(keys);
    if (code)
        return code;
    if (tweak_size != 16 || in_size < 16 || in_size > 1 << 24 || out_size != in_size)
        return @UP@_LENGTH;
    if (!tweak || !in || !out)
        return @UP@_NULL;
    if ((in != out && overlap(in, in_size, out, out_size)) || overlap(tweak, 16, out, out_size))
        return @UP@_OVERLAPS;
    uint8_t t[2][16], part[16], end[16];
    code = @NAME@_blocks(&keys->of_tweaks, tweak, 16, t[0], 16);
    if (code)
        return code;
    size_t n_part = in_size % 16, n = in_size - n_part - (n_part > 0 ? 16 : 0);
    run(keys, is_inverse, t[0], in, out, n);
    if (n_part > 0) {
        /* Two blocks are left, and the second of their tweaks comes first if they are decrypted. */
        memcpy(t[1], t[0], 16);
        double_it(t[1]);
        memcpy(part, in + n + 16, n_part);
        run(keys, is_inverse, t[is_inverse], in + n, end, 16);
        memcpy(part + n_part, end + n_part, 16 - n_part);
        memcpy(out + n + 16, end, n_part);
        run(keys, is_inverse, t[!is_inverse], part, out + n, 16);
        wipe(end, sizeof end);
        wipe(part, sizeof part);
    }
    wipe(t, sizeof t);
    return @UP@_OK;
}

int @MODE@_encrypt(const @MODE@_keys *keys, const uint8_t *tweak, size_t tweak_size,
    const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    return sector(keys, 0, tweak, tweak_size, in, in_size, out, out_size);
}

int @MODE@_decrypt(const @MODE@_keys *keys, const uint8_t *tweak, size_t tweak_size,
    const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    return sector(keys, 1, tweak, tweak_size, in, in_size, out, out_size);
}
