
/* CBC: a block of the text is what the inverse makes of a block of the ciphertext, and the block
   of the ciphertext before it. All blocks of a batch are inverted at once. */
enum { AT_ONCE = 16 * @WIDTH@ };

int @MODE@_expand(@MODE@_keys *keys, const char *target, const uint8_t *key, size_t key_size)
{
    int code = unfit(keys);
    return code ? code : @NAME@_decrypt_expand(&keys->inverse, target, key, key_size);
}

int @MODE@_decrypt(const @MODE@_keys *keys, const uint8_t *iv, size_t iv_size, const uint8_t *in,
    size_t in_size, uint8_t *out, size_t out_size)
{
    uint8_t before[16], last[16], text[AT_ONCE];
    int code = unfit(keys);
    if (code)
        return code;
    if (iv_size != 16 || in_size % 16 != 0 || out_size != in_size)
        return @UP@_LENGTH;
    if (!iv || ((!in || !out) && in_size > 0))
        return @UP@_NULL;
    if ((in != out && overlap(in, in_size, out, out_size)) || overlap(iv, 16, out, out_size))
        return @UP@_OVERLAPS;
    /* Keys that were not made are refused for a text without blocks too. */
    code = @NAME@_decrypt_blocks(&keys->inverse, iv, 0, text, 0);
    if (code)
        return code;
    memcpy(before, iv, 16);
    for (size_t now; in_size > 0; in_size -= now, in += now, out += now) {
        now = in_size < AT_ONCE ? in_size : AT_ONCE;
        @NAME@_decrypt_blocks(&keys->inverse, in, now, text, now);
        memcpy(last, in + now - 16, 16);
        for (size_t i = 0; i < now; i++)
            text[i] ^= i < 16 ? before[i] : in[i - 16];
        memcpy(out, text, now);
        memcpy(before, last, 16);
    }
    wipe(text, sizeof text);
    return @UP@_OK;
}
