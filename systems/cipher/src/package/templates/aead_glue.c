
_Static_assert(sizeof(@FULL@_state) <= sizeof(((@NAME@_state *)0)->words), "the state fits");
/* C takes two untagged types with the same members, each in its own file, for one type. */
_Static_assert(sizeof(@FULL@_message) == sizeof(@NAME@_message), "a message is the same in both headers");

static int @S@_encrypt_each(const void *messages, size_t n_messages)
{
    return @FULL@_encrypt_each(messages, n_messages);
}

static int @S@_decrypt_each(void *messages, size_t n_messages)
{
    return @FULL@_decrypt_each(messages, n_messages);
}

static void @S@_init(void *state, const uint8_t *key, const uint8_t *nonce)
{
    @FULL@_init(state, key, nonce);
}

static int @S@_aad(void *state, const uint8_t *ad, size_t n)
{
    return @FULL@_aad(state, ad, n);
}

static int @S@_update(void *state, const uint8_t *in, uint8_t *out, size_t n)
{
    return @FULL@_update(state, in, out, n);
}

static int @S@_final(void *state, uint8_t *tag)
{
    return @FULL@_final(state, tag);
}
