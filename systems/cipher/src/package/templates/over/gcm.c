
/* GCM: counters of 32 bits by the stream of the cipher; its first block is the mask of the tag. */
#define AD_MAX ((UINT64_C(1) << 61) - 1)
#define TEXT_MAX ((UINT64_C(1) << 36) - 32)

/* The blocks of the counter before its 32 bits wrap. */
static uint64_t bytes_left(const uint8_t *counter)
{
    return ((UINT64_C(1) << 32) - (big64(counter + 8) & UINT32_MAX)) * 16;
}

static int nonce_fits(uint64_t n)
{
    return n > 0 && n <= AD_MAX;
}

int @MODE@_expand(@MODE@_keys *keys, const char *target, const uint8_t *key, size_t key_size)
{
    uint8_t h[16] = {0};
    int code = unfit(keys);
    if (!code)
        code = @NAME@_expand(&keys->cipher, target, key, key_size);
    if (code)
        return code;
    @NAME@_blocks(&keys->cipher, h, 16, h, 16);
    set_factor(keys->factor, big64(h), big64(h + 8));
    keys->is_wide = set_wide(keys->wide, keys->factor, target ? target : @NAME@_best());
    wipe(h, sizeof h);
    return @UP@_OK;
}

static void hash_blocks(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *in, size_t n)
{
    /* Fewer do not pay for the sums at the end. */
    if (keys->is_wide && n >= 48) {
        hash_wide(state->hash, keys->factor, keys->wide, in, n, 0);
        return;
    }
    for (; n > 0; n--, in += 16) {
        state->hash[0] ^= big64(in + 8);
        state->hash[1] ^= big64(in);
        multiply(state->hash, keys->factor);
    }
}

/* Adds the lengths, in bits. */
static void hash_sizes(@MODE@_state *state, const @MODE@_keys *keys, uint64_t first,
    uint64_t second)
{
    state->hash[0] ^= second << 3;
    state->hash[1] ^= first << 3;
    multiply(state->hash, keys->factor);
}

static void put_hash(const @MODE@_state *state, uint8_t *out)
{
    for (int i = 0; i < 16; i++)
        out[i] = (uint8_t)(state->hash[i < 8] >> (56 - 8 * (i % 8)));
}

static int is_made(const @MODE@_keys *keys)
{
    return @NAME@_blocks(&keys->cipher, NULL, 0, NULL, 0) == 0;
}

static int xor_stream(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *in,
    uint8_t *out, size_t n)
{
    int code = @UP@_OK;
    for (size_t now; n > 0 && !code; n -= now, in += now, out += now) {
        now = n < state->left ? n : (size_t)state->left;
        code = @NAME@_ctr_xor(&state->stream, &keys->cipher, in, now, out, now);
        state->left -= now;
        if (!code && state->left == 0) {
            memset(state->counter + 12, 0, 4);
            code = @NAME@_ctr_init(&state->stream, &keys->cipher, state->counter, 16);
            state->left = bytes_left(state->counter);
        }
    }
    return code;
}

static void absorb(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *in, size_t n);
static void pad(@MODE@_state *state, const @MODE@_keys *keys);

static int start(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *nonce,
    size_t nonce_size, size_t n)
{
    (void)n;
    clear_state(state);
    if (!is_made(keys))
        return @UP@_TARGET;
    if (nonce_size == 12) {
        memcpy(state->counter, nonce, 12);
        state->counter[15] = 1;
    } else {
        absorb(state, keys, nonce, nonce_size);
        pad(state, keys);
        hash_sizes(state, keys, 0, nonce_size);
        put_hash(state, state->counter);
        memset(state->hash, 0, sizeof state->hash);
    }
    int code = @NAME@_ctr_init(&state->stream, &keys->cipher, state->counter, 16);
    if (code)
        return code;
    state->left = bytes_left(state->counter);
    return xor_stream(state, keys, state->mask, state->mask, 16);
}

static void make_tag(@MODE@_state *state, const @MODE@_keys *keys, uint8_t *tag)
{
    hash_sizes(state, keys, state->n_ad, state->n_text);
    put_hash(state, tag);
    for (int i = 0; i < 16; i++)
        tag[i] ^= state->mask[i];
}
