
static int start_stream(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *nonce,
    size_t nonce_size)
{
    return @NAME@_ctr_init(&state->stream, keys->target, keys->key, 32, 0, nonce, nonce_size);
}
