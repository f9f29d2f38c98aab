
/* CMAC: a chain of blocks, of which the last takes one of two keys that the cipher makes of zeros,
   the second if it was filled up. */

/* The product with x: the first byte is the most significant. */
static void double_it(const uint8_t *in, uint8_t *out)
{
    uint8_t top = in[0] >> 7;
    for (int i = 0; i < 16; i++)
        out[i] = (uint8_t)(in[i] << 1 | (i < 15 ? in[i + 1] >> 7 : 0));
    out[15] ^= (uint8_t)(0x87 & (0 - top));
}

int @MODE@_expand(@MODE@_keys *keys, const char *target, const uint8_t *key, size_t key_size)
{
    uint8_t zeros[16] = {0};
    int code = unfit(keys);
    if (!code)
        code = @NAME@_expand(&keys->cipher, target, key, key_size);
    if (!code)
        code = @NAME@_blocks(&keys->cipher, zeros, 16, zeros, 16);
    if (!code) {
        double_it(zeros, keys->ends[0]);
        double_it(keys->ends[0], keys->ends[1]);
    }
    wipe(zeros, sizeof zeros);
    return code;
}

/* The whole tag. */
static int whole_tag(const @MODE@_keys *keys, const uint8_t *text, size_t n, uint8_t *x)
{
    memset(x, 0, 16);
    for (; n > 16; n -= 16, text += 16) {
        for (int i = 0; i < 16; i++)
            x[i] ^= text[i];
        int code = @NAME@_blocks(&keys->cipher, x, 16, x, 16);
        if (code)
            return code;
    }
    for (size_t i = 0; i < n; i++)
        x[i] ^= text[i];
    if (n < 16)
        x[n] ^= 0x80;
    for (int i = 0; i < 16; i++)
        x[i] ^= keys->ends[n < 16][i];
    return @NAME@_blocks(&keys->cipher, x, 16, x, 16);
}

static int wrong(const @MODE@_keys *keys, const uint8_t *text, size_t n, const uint8_t *tag,
    size_t tag_size)
{
    int code = unfit(keys);
    if (code)
        return code;
    if (tag_size < 8 || tag_size > 16)
        return @UP@_LENGTH;
    return !tag || (!text && n > 0) ? @UP@_NULL : @UP@_OK;
}

int @MODE@_tag(const @MODE@_keys *keys, const uint8_t *text, size_t text_size, uint8_t *tag,
    size_t tag_size)
{
    uint8_t whole[16];
    int code = wrong(keys, text, text_size, tag, tag_size);
    if (!code && overlap(text, text_size, tag, tag_size))
        code = @UP@_OVERLAPS;
    if (!code)
        code = whole_tag(keys, text, text_size, whole);
    if (!code)
        memcpy(tag, whole, tag_size);
    wipe(whole, sizeof whole);
    return code;
}

int @MODE@_verify(const @MODE@_keys *keys, const uint8_t *text, size_t text_size,
    const uint8_t *tag, size_t tag_size)
{
    uint8_t whole[16];
    int code = wrong(keys, text, text_size, tag, tag_size);
    if (!code)
        code = whole_tag(keys, text, text_size, whole);
    uint32_t differ = 0;
    for (size_t i = 0; !code && i < tag_size; i++)
        differ |= (uint32_t)(tag[i] ^ whole[i]);
    wipe(whole, sizeof whole);
    if (code)
        return code;
    return MEANWHILE_PUBLIC(differ != 0) ? @UP@_FORGED : @UP@_OK;
}
