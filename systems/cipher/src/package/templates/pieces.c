
/* What is wrong with a message in pieces, or OK. */
static int wrong(const @NAME@_state *state)
{
    if (!state)
        return @UP@_NULL;
    if (is_misaligned(state))
        return @UP@_ALIGNMENT;
    return made_for(state->target[0]) == N_TARGETS ? @UP@_TARGET : @UP@_OK;
}

/* The target that starts a message in pieces, or what is wrong; NULL is the first one, with the fewest blocks in a register. */
static int start(@NAME@_state *state, const char *target, size_t *k)
{
    if (!state)
        return @UP@_NULL;
    if (is_misaligned(state))
        return @UP@_ALIGNMENT;
    *k = target_number(target ? target : targets[0].name);
    if (*k == N_TARGETS)
        return @UP@_TARGET;
    state->target[0] = MADE + *k;
    return @UP@_OK;
}

void @NAME@_wipe(@NAME@_state *state)
{
    if (state)
        wipe(state, sizeof *state);
}
