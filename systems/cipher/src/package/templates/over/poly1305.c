
/* The stream of the cipher, whose first block has the key of the tag. */
#define AD_MAX (UINT64_MAX / 2)
#define TEXT_MAX (((UINT64_C(1) << 32) - 1) * 64)
#define MADE_KEYS UINT64_C(0x6b657973666f7274)

static int nonce_fits(size_t n)
{
    return n == @N_NONCE@;
}

int @MODE@_expand(@MODE@_keys *keys, const char *target, const uint8_t *key, size_t key_size)
{
    int code = unfit(keys);
    if (code)
        return code;
    if (key_size != 32)
        return @UP@_LENGTH;
    if (!key)
        return @UP@_NULL;
    target = target ? target : @NAME@_best();
    if (!@NAME@_has(target))
        return @UP@_TARGET;
    memset(keys, 0, sizeof *keys);
    keys->mark = MADE_KEYS;
    strcpy(keys->target, target);
    keys->is_wide = (uint64_t)is_wide(target);
    memcpy(keys->key, key, 32);
    return @UP@_OK;
}

static void hash_blocks(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *in, size_t n)
{
    /* Fewer do not pay for the powers. */
    if (keys->is_wide && n >= 48) {
        poly_wide(keys->is_wide, state->hash, in, n / 8 * 8);
        in += n / 8 * 128;
        n %= 8;
    }
    poly_blocks(state->hash, in, n);
}

static int is_made(const @MODE@_keys *keys)
{
    return keys->mark == MADE_KEYS;
}

static int xor_stream(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *in,
    uint8_t *out, size_t n)
{
    (void)keys;
    return @NAME@_ctr_xor(&state->stream, in, n, out, n);
}

__attribute__((visibility("hidden"))) int @NAME@_ctr_first(
    @NAME@_ctr *stream, uint8_t *block, size_t more);

static int start(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *nonce,
    size_t nonce_size, size_t n)
{
    uint8_t first[64] = {0};
    clear_state(state);
    if (!is_made(keys))
        return @UP@_TARGET;
    int code = start_stream(state, keys, nonce, nonce_size);
    if (code)
        return code;
    code = @NAME@_ctr_first(&state->stream, first, n);
    set_poly_key(state->hash, first);
    wipe(first, sizeof first);
    return code;
}

static void make_tag(@MODE@_state *state, const @MODE@_keys *keys, uint8_t *tag)
{
    uint8_t sizes[16];
    put64(sizes, state->n_ad);
    put64(sizes + 8, state->n_text);
    hash_blocks(state, keys, sizes, 1);
    poly_tag(state->hash, tag);
}
