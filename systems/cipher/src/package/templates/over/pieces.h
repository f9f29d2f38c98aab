
/* Starts a message that is encrypted in pieces. There is no decryption in pieces: it would release
   text before its tag is verified. */
int @MODE@_init(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *nonce,
    size_t nonce_size);

/* Adds associated data, in pieces of any size, before the first text. */
int @MODE@_aad(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *ad, size_t ad_size);

/* Encrypts the next bytes of text, in pieces of any size, in place if out is in. */
int @MODE@_update(@MODE@_state *state, const @MODE@_keys *keys, const uint8_t *in, size_t in_size,
    uint8_t *out, size_t out_size);

/* Makes the tag, and ends the message. */
int @MODE@_final(@MODE@_state *state, const @MODE@_keys *keys, uint8_t *tag, size_t tag_size);

/* Overwrites a message that is no longer needed. */
void @MODE@_state_wipe(@MODE@_state *state);
