
_Static_assert(sizeof(@FULL@_state) <= sizeof(((@NAME@_state *)0)->words), "the state fits");

static void @S@_many(const uint8_t *in, size_t n, uint8_t *out, size_t n_out, size_t n_messages)
{
@UNUSED_OUT@    @FULL@_many(in, n, out@GIVEN_OUT@, n_messages);
}

static void @S@_each(const uint8_t *const *in, const size_t *n, uint8_t *out, size_t n_out, size_t n_messages)
{
@UNUSED_OUT@    @FULL@_each(in, n, out@GIVEN_OUT@, n_messages);
}

static int @S@_init(void *state, size_t n_messages)
{
    return @FULL@_init_many(state, n_messages);
}

static int @S@_update(void *state, const uint8_t *const *in, size_t n)
{
    return @FULL@_@MORE@_many(state, in, n);
}

static int @S@_finish(void *state, uint8_t *const *out, size_t n)
{
@UNUSED@    return @FULL@_@END@_many(state, out@GIVEN@);
}
