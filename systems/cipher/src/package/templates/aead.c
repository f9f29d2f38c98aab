
/* True if a size_t holds the size of all messages. */
static int fits(size_t size, size_t n_messages)
{
    return n_messages == 0 || size <= SIZE_MAX / 2 / n_messages;
}

int @NAME@_encrypt_many(const char *target, const uint8_t *keys, const uint8_t *nonces, const uint8_t *ads, size_t ad_size, const uint8_t *in,
    uint8_t *out, size_t size, uint8_t *tags, size_t n_messages)
{
    size_t k = target_number(target);
    if (k == N_TARGETS)
        return @UP@_TARGET;
    if (!fits(size, n_messages) || !fits(ad_size, n_messages))
        return @UP@_LENGTH;
    return targets[k].encrypt_many(keys, nonces, ads, ad_size, in, out, size, tags, n_messages);
}

int @NAME@_decrypt_many(const char *target, const uint8_t *keys, const uint8_t *nonces, const uint8_t *ads, size_t ad_size, const uint8_t *in,
    uint8_t *out, size_t size, const uint8_t *tags, uint8_t *is_right, size_t n_messages)
{
    size_t k = target_number(target);
    if (k == N_TARGETS)
        return @UP@_TARGET;
    if (!fits(size, n_messages) || !fits(ad_size, n_messages))
        return @UP@_LENGTH;
    return targets[k].decrypt_many(keys, nonces, ads, ad_size, in, out, size, tags, is_right, n_messages);
}

/* Single messages use the first target, which has the fewest blocks in a register. */
int @NAME@_encrypt(const char *target, const uint8_t *key, size_t key_size, const uint8_t *nonce, size_t nonce_size, const uint8_t *ad,
    size_t ad_size, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size, uint8_t *tag, size_t tag_size)
{
    if (key_size != 16 || nonce_size != 16 || tag_size != 16 || out_size != in_size)
        return @UP@_LENGTH;
    return @NAME@_encrypt_many(target ? target : targets[0].name, key, nonce, ad, ad_size, in, out, in_size, tag, 1);
}

int @NAME@_decrypt(const char *target, const uint8_t *key, size_t key_size, const uint8_t *nonce, size_t nonce_size, const uint8_t *ad,
    size_t ad_size, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size, const uint8_t *tag, size_t tag_size)
{
    if (key_size != 16 || nonce_size != 16 || tag_size != 16 || out_size != in_size)
        return @UP@_LENGTH;
    return @NAME@_decrypt_many(target ? target : targets[0].name, key, nonce, ad, ad_size, in, out, in_size, tag, NULL, 1);
}

int @NAME@_encrypt_each(const char *target, const @NAME@_message *messages, size_t n_messages)
{
    size_t k = target_number(target);
    return k == N_TARGETS ? @UP@_TARGET : targets[k].encrypt_each(messages, n_messages);
}

int @NAME@_decrypt_each(const char *target, @NAME@_message *messages, size_t n_messages)
{
    size_t k = target_number(target);
    return k == N_TARGETS ? @UP@_TARGET : targets[k].decrypt_each(messages, n_messages);
}

int @NAME@_init(@NAME@_state *state, const char *target, const uint8_t *key, size_t key_size, const uint8_t *nonce, size_t nonce_size)
{
    size_t k;
    if (key_size != 16 || nonce_size != 16)
        return @UP@_LENGTH;
    if (!key || !nonce)
        return @UP@_NULL;
    int code = start(state, target, &k);
    if (!code)
        targets[k].init(state->words, key, nonce);
    return code;
}

/* The result of a target's function on a piece. */
static int said(int code)
{
    return code == 0 ? @UP@_OK : code == 2 ? @UP@_OVERLAPS : code == 3 ? @UP@_NULL : @UP@_ENDED;
}

int @NAME@_aad(@NAME@_state *state, const uint8_t *ad, size_t ad_size)
{
    int code = wrong(state);
    return code ? code : said(targets[made_for(state->target[0])].aad(state->words, ad, ad_size));
}

int @NAME@_update(@NAME@_state *state, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    int code = wrong(state);
    if (code)
        return code;
    if (out_size != in_size)
        return @UP@_LENGTH;
    return said(targets[made_for(state->target[0])].update(state->words, in, out, in_size));
}

int @NAME@_final(@NAME@_state *state, uint8_t *tag, size_t tag_size)
{
    int code = wrong(state);
    if (code)
        return code;
    if (tag_size != 16)
        return @UP@_LENGTH;
    return said(targets[made_for(state->target[0])].final(state->words, tag));
}
