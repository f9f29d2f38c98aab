
_Static_assert(sizeof(@FULL@_state) <= sizeof(((@NAME@_state *)0)->words), "the state fits");

static void @S@_many(const uint8_t *in, size_t n, uint8_t *out, size_t n_out, size_t n_messages)
{
    @FULL@_many(in, n, out, n_out, n_messages);
}

static void @S@_each(const uint8_t *const *in, const size_t *n, uint8_t *out, size_t n_out, size_t n_messages)
{
    @FULL@_each(in, n, out, n_out, n_messages);
}

static void @S@_init(void *state)
{
    @FULL@_init(state);
}

static int @S@_update(void *state, const uint8_t *in, size_t n)
{
    return @FULL@_absorb(state, in, n);
}

static int @S@_finish(void *state, uint8_t *out, size_t n)
{
    return @FULL@_squeeze(state, out, n);
}
