
/* A string of at most @N_SALT@ bytes filled up with zeros. */
static void fill_up(uint8_t block[@N_SALT@], const uint8_t *given, size_t size)
{
    memset(block, 0, @N_SALT@);
    if (size > 0)
        memcpy(block, given, size);
}

int @NAME@_init_many_with(@NAME@_state *state, const char *target, size_t n_messages, size_t digest_size, const uint8_t *key, size_t key_size,
    const uint8_t *salt, size_t salt_size, const uint8_t *personal, size_t personal_size)
{
    uint8_t own_salt[@N_SALT@], own_personal[@N_SALT@];
    if (digest_size == 0 || digest_size > @N_OUT@ || key_size > @N_OUT@ || salt_size > @N_SALT@ || personal_size > @N_SALT@)
        return @UP@_LENGTH;
    if ((!key && key_size > 0) || (!salt && salt_size > 0) || (!personal && personal_size > 0))
        return @UP@_NULL;
    int code = @NAME@_init_many(state, target, n_messages);
    if (code)
        return code;
    fill_up(own_salt, salt, salt_size);
    fill_up(own_personal, personal, personal_size);
    state->target[2] = digest_size;
    return said(targets[made_for(state->target[0])].init_with(state->words, n_messages, digest_size, key, key_size, own_salt, own_personal));
}

int @NAME@_init_with(@NAME@_state *state, const char *target, size_t digest_size, const uint8_t *key, size_t key_size, const uint8_t *salt,
    size_t salt_size, const uint8_t *personal, size_t personal_size)
{
    return @NAME@_init_many_with(state, target, 1, digest_size, key, key_size, salt, salt_size, personal, personal_size);
}

int @NAME@_mac(const char *target, const uint8_t *key, size_t key_size, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    @NAME@_state state;
    if (key_size == 0)
        return @UP@_LENGTH;
    if (!out || (!in && in_size > 0))
        return @UP@_NULL;
    int code = @NAME@_init_with(&state, target, out_size, key, key_size, NULL, 0, NULL, 0);
    if (!code)
        code = @NAME@_update(&state, in, in_size);
    /* It wipes what was derived from the key. */
    return code ? code : @NAME@_final(&state, out, out_size);
}

int @NAME@_verify(const char *target, const uint8_t *key, size_t key_size, const uint8_t *in, size_t in_size, const uint8_t *tag,
    size_t tag_size)
{
    uint8_t own[@N_OUT@] = {0};
    if (!tag)
        return @UP@_NULL;
    int code = @NAME@_mac(target, key, key_size, in, in_size, own, tag_size);
    if (code)
        return code;
    uint8_t differs = 0;
    for (size_t i = 0; i < tag_size; i++)
        differs |= own[i] ^ tag[i];
    wipe(own, sizeof own);
    return differs ? @UP@_FORGED : @UP@_OK;
}
