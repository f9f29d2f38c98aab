
static uint32_t little32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* HChaCha20 makes a key of the first 16 bytes of the nonce: the block function without the sum at
   its end. */
static int start_stream(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *nonce,
    size_t nonce_size)
{
    uint8_t in[64] = "expand 32-byte k", out[64], key[32], rest[12] = {0};
    memcpy(in + 16, keys->key, 32);
    memcpy(in + 48, nonce, 16);
    int code = @NAME@_blocks(keys->target, in, 64, out, 64);
    for (int i = 0; i < 8 && !code; i++) {
        int at = i < 4 ? 4 * i : 4 * i + 32;
        uint32_t x = little32(out + at) - little32(in + at);
        for (int j = 0; j < 4; j++)
            key[4 * i + j] = (uint8_t)(x >> 8 * j);
    }
    memcpy(rest + 4, nonce + 16, nonce_size - 16);
    if (!code)
        code = @NAME@_ctr_init(&state->stream, keys->target, key, 32, 0, rest, 12);
    wipe(in, sizeof in);
    wipe(out, sizeof out);
    wipe(key, sizeof key);
    return code;
}
