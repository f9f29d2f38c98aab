
_Static_assert(sizeof(@MODE@_state) == @N_STATE@, "the bindings have the size of a message");

/* Marks a message in pieces; the number of its phase is added. */
#define MADE UINT64_C(0x6d65616e7768696c)
enum { AD, TEXT, ENDED, N_PHASES };

/* Adds bytes to what the tag is of. */
static void absorb(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *in, size_t n)
{
    if (state->n_rest > 0) {
        size_t now = 16 - state->n_rest < n ? 16 - state->n_rest : n;
        memcpy(state->rest + state->n_rest, in, now);
        state->n_rest += now;
        in += now;
        n -= now;
        if (state->n_rest < 16)
            return;
        hash_blocks(state, keys, state->rest, 1);
        state->n_rest = 0;
    }
    hash_blocks(state, keys, in, n / 16);
    state->n_rest = n % 16;
    if (state->n_rest > 0)
        memcpy(state->rest, in + n - n % 16, n % 16);
}

/* Fills the last block with zeros. */
static void pad(@MODE@_state *state, const @MODE@_keys *keys)
{
    if (state->n_rest == 0)
        return;
    memset(state->rest + state->n_rest, 0, 16 - state->n_rest);
    hash_blocks(state, keys, state->rest, 1);
    state->n_rest = 0;
}

/* Adds all associated data. */
static void take_ad(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *ad, size_t n)
{
    state->n_ad += n;
    if (n > 0)
        absorb(state, keys, ad, n);
}

/* Encrypts, and adds the ciphertext while it is near. */
static int encrypt(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *in, uint8_t *out,
    size_t n)
{
    state->n_text += n;
    for (size_t now; n > 0; n -= now, in += now, out += now) {
        now = n < 16384 ? n : 16384;
        int code = xor_stream(state, keys, in, out, now);
        if (code)
            return code;
        absorb(state, keys, out, now);
    }
    return @UP@_OK;
}

static void finish(@MODE@_state *state, const @MODE@_keys *keys, uint8_t *tag)
{
    pad(state, keys);
    make_tag(state, keys, tag);
}

static int seal(const @MODE@_keys *keys, const uint8_t *nonce, size_t nonce_size,
    const uint8_t *ad, size_t ad_size, const uint8_t *in, size_t n, uint8_t *out, uint8_t *tag)
{
    @MODE@_state state;
    int code = start(&state, keys, nonce, nonce_size, n);
    if (!code) {
        take_ad(&state, keys, ad, ad_size);
        pad(&state, keys);
        code = encrypt(&state, keys, in, out, n);
        if (!code)
            finish(&state, keys, tag);
    }
    wipe_state(&state);
    return code;
}

/* The text is made when the tag is known to be right. */
static int unseal(const @MODE@_keys *keys, const uint8_t *nonce, size_t nonce_size,
    const uint8_t *ad, size_t ad_size, const uint8_t *in, size_t n, uint8_t *out,
    const uint8_t *tag, uint8_t *own)
{
    @MODE@_state state;
    int code = start(&state, keys, nonce, nonce_size, n);
    if (!code) {
        take_ad(&state, keys, ad, ad_size);
        pad(&state, keys);
        state.n_text = n;
        if (n > 0)
            absorb(&state, keys, in, n);
        finish(&state, keys, own);
        if (!is_same(own, tag))
            code = @UP@_FORGED;
        else if (n > 0)
            code = xor_stream(&state, keys, in, out, n);
    }
    wipe_state(&state);
    return code;
}

/* What is wrong with a message in pieces and the bytes it is given, or OK. */
static int unready(const @MODE@_state *state, const @MODE@_keys *keys)
{
    int code = unfit(state);
    if (!code)
        code = unfit(keys);
    if (code)
        return code;
    if (state->mark - MADE >= N_PHASES || !is_made(keys))
        return @UP@_TARGET;
    return state->mark - MADE == ENDED ? @UP@_ENDED : @UP@_OK;
}

int @MODE@_init(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *nonce,
    size_t nonce_size)
{
    int code = unfit(state);
    if (!code)
        code = unfit(keys);
    if (code)
        return code;
    if (!nonce_fits(nonce_size))
        return @UP@_LENGTH;
    if (!nonce)
        return @UP@_NULL;
    code = start(state, keys, nonce, nonce_size, UNKNOWN);
    state->mark = code ? 0 : MADE + AD;
    return code;
}

int @MODE@_aad(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *ad, size_t ad_size)
{
    int code = unready(state, keys);
    if (code)
        return code;
    if (state->mark - MADE != AD)
        return @UP@_ENDED;
    if (ad_size > AD_MAX - state->n_ad)
        return @UP@_LENGTH;
    if (!ad && ad_size > 0)
        return @UP@_NULL;
    take_ad(state, keys, ad, ad_size);
    return @UP@_OK;
}

int @MODE@_update(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *in, size_t in_size,
    uint8_t *out, size_t out_size)
{
    int code = unready(state, keys);
    if (code)
        return code;
    if (out_size != in_size || in_size > TEXT_MAX - state->n_text)
        return @UP@_LENGTH;
    if ((!in || !out) && in_size > 0)
        return @UP@_NULL;
    if (in != out && overlap(in, in_size, out, out_size))
        return @UP@_OVERLAPS;
    if (state->mark - MADE == AD)
        pad(state, keys);
    state->mark = MADE + TEXT;
    code = encrypt(state, keys, in, out, in_size);
    if (code) {
        /* The keys are not those of the message, which ends here without a tag. */
        wipe(state, sizeof *state);
        memset(out, 0, in_size);
    }
    return code;
}

int @MODE@_final(@MODE@_state *state, const @MODE@_keys *keys, uint8_t *tag, size_t tag_size)
{
    int code = unready(state, keys);
    if (code)
        return code;
    if (tag_size != 16)
        return @UP@_LENGTH;
    if (!tag)
        return @UP@_NULL;
    finish(state, keys, tag);
    wipe(state, sizeof *state);
    state->mark = MADE + ENDED;
    return @UP@_OK;
}

void @MODE@_state_wipe(@MODE@_state *state)
{
    if (state)
        wipe(state, sizeof *state);
}
