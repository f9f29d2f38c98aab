
int @NAME@_squeeze(@NAME@_state *state, uint8_t *out, size_t out_size)
{
    int code = wrong(state);
    return code ? code : said(targets[made_for(state->target[0])].finish(state->words, out, out_size));
}
