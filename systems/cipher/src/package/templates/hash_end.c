
int @NAME@_final(@NAME@_state *state, uint8_t *out, size_t out_size)
{
    int code = wrong(state);
    if (code)
        return code;
    if (out_size != 32)
        return @UP@_LENGTH;
    return out ? said(targets[made_for(state->target[0])].finish(state->words, out, out_size)) : @UP@_NULL;
}
