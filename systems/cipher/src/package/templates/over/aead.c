
/* A size is more than a limit, which on a processor of 32 bits none may be. */
static int exceeds(uint64_t size, uint64_t most)
{
    return size > most;
}

/* What is wrong with the arguments, or OK. */
static int wrong(const @MODE@_keys *keys, const uint8_t *nonce, size_t nonce_size,
    const uint8_t *ad, size_t ad_size, const uint8_t *in, size_t in_size, const uint8_t *out,
    size_t out_size, const uint8_t *tag, size_t tag_size)
{
    int code = unfit(keys);
    if (code)
        return code;
    if (!nonce_fits(nonce_size) || exceeds(ad_size, AD_MAX) || tag_size != 16)
        return @UP@_LENGTH;
    if (exceeds(in_size, TEXT_MAX) || out_size != in_size)
        return @UP@_LENGTH;
    if (!nonce || !tag || (!ad && ad_size > 0) || ((!in || !out) && in_size > 0))
        return @UP@_NULL;
    if ((in != out && overlap(in, in_size, out, out_size)) || overlap(tag, 16, out, out_size))
        return @UP@_OVERLAPS;
    if (overlap(ad, ad_size, out, out_size) || overlap(nonce, nonce_size, out, out_size))
        return @UP@_OVERLAPS;
    return @UP@_OK;
}

int @MODE@_encrypt(const @MODE@_keys *keys, const uint8_t *nonce, size_t nonce_size,
    const uint8_t *ad, size_t ad_size, const uint8_t *in, size_t in_size, uint8_t *out,
    size_t out_size, uint8_t *tag, size_t tag_size)
{
    int code = wrong(keys, nonce, nonce_size, ad, ad_size, in, in_size, out, out_size, tag,
        tag_size);
    return code ? code : seal(keys, nonce, nonce_size, ad, ad_size, in, in_size, out, tag);
}

int @MODE@_decrypt(const @MODE@_keys *keys, const uint8_t *nonce, size_t nonce_size,
    const uint8_t *ad, size_t ad_size, const uint8_t *in, size_t in_size, uint8_t *out,
    size_t out_size, const uint8_t *tag, size_t tag_size)
{
    uint8_t own[16];
    int code = wrong(keys, nonce, nonce_size, ad, ad_size, in, in_size, out, out_size, tag,
        tag_size);
    if (!code)
        code = unseal(keys, nonce, nonce_size, ad, ad_size, in, in_size, out, tag, own);
    if (code == @UP@_FORGED && in_size > 0)
        memset(out, 0, in_size);
    wipe(own, sizeof own);
    return code;
}
