
int @NAME@_many(const char *target, const uint8_t *in, size_t size, uint8_t *out, size_t out_size, size_t n_messages)
{
    size_t k = target_number(target);
    if (k == N_TARGETS)
        return @UP@_TARGET;
    if (@WRONG_SIZE@ || (n_messages > 0 && (size > SIZE_MAX / n_messages || out_size > SIZE_MAX / n_messages)))
        return @UP@_LENGTH;
    if (n_messages > 0 && ((!in && size > 0) || (!out && out_size > 0)))
        return @UP@_NULL;
    if (n_messages > 0 && out_size > 0)
        targets[k].many(in, size, out, out_size, n_messages);
    return @UP@_OK;
}

/* Single messages use the first target, which has the fewest blocks in a register. */
int @NAME@_digest(const char *target, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    return @NAME@_many(target ? target : targets[0].name, in, in_size, out, out_size, 1);
}

int @NAME@_each(const char *target, const uint8_t *const *in, const size_t *in_sizes, uint8_t *out, size_t out_size, size_t n_messages)
{
    size_t k = target_number(target);
    if (k == N_TARGETS)
        return @UP@_TARGET;
    if (@WRONG_SIZE@ || (n_messages > 0 && out_size > SIZE_MAX / n_messages))
        return @UP@_LENGTH;
    if (n_messages > 0 && (!in || !in_sizes || (!out && out_size > 0)))
        return @UP@_NULL;
    for (size_t m = 0; m < n_messages; m++)
        if (!in[m] && in_sizes[m] > 0)
            return @UP@_NULL;
    if (n_messages > 0 && out_size > 0)
        targets[k].each(in, in_sizes, out, out_size, n_messages);
    return @UP@_OK;
}

/* The result of a target's function. */
static int said(int code)
{
    return code == 0 ? @UP@_OK : code == 3 ? @UP@_NULL : code == 4 ? @UP@_LENGTH : @UP@_ENDED;
}

int @NAME@_init_many(@NAME@_state *state, const char *target, size_t n_messages)
{
    size_t k = 0;
    for (size_t next = 1; next < N_TARGETS && targets[k].width < n_messages; next++)
        if (targets[next].is_here())
            k = next;
    int code = start(state, target ? target : targets[k].name, &k);
    if (code)
        return code;
    code = said(targets[k].init(state->words, n_messages));
    state->target[1] = n_messages;
@KEEP_SIZE@    if (code)
        state->target[0] = 0;
    return code;
}

int @NAME@_init(@NAME@_state *state, const char *target)
{
    return @NAME@_init_many(state, target, 1);
}

int @NAME@_update_many(@NAME@_state *state, const uint8_t *const *in, size_t in_size)
{
    int code = wrong(state);
    return code ? code : said(targets[made_for(state->target[0])].update(state->words, in, in_size));
}

int @NAME@_@END@_many(@NAME@_state *state, uint8_t *const *out, size_t out_size)
{
    int code = wrong(state);
    if (!code && @WRONG_END_SIZE@)
        code = @UP@_LENGTH;
    return code ? code : said(targets[made_for(state->target[0])].finish(state->words, out, out_size));
}

/* What is wrong with the one message of a state, or OK. */
static int one_wrong(const @NAME@_state *state)
{
    int code = wrong(state);
    return !code && state->target[1] != 1 ? @UP@_LENGTH : code;
}

int @NAME@_update(@NAME@_state *state, const uint8_t *in, size_t in_size)
{
    int code = one_wrong(state);
    return code ? code : @NAME@_update_many(state, &in, in_size);
}

int @NAME@_@END@(@NAME@_state *state, uint8_t *out, size_t out_size)
{
    int code = one_wrong(state);
    return code ? code : @NAME@_@END@_many(state, &out, out_size);
}
