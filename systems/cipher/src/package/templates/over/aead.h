
/* Makes the keys for a target, or for the best one if it is NULL. The key has @N_KEY@ bytes. */
int @MODE@_expand(@MODE@_keys *keys, const char *target, const uint8_t *key, size_t key_size);

/* Overwrites keys that are no longer needed. */
void @MODE@_wipe(@MODE@_keys *keys);

/* Encrypts in_size bytes, @TEXT_MAX@ at most, in place if out is in, and makes the tag of 16 bytes.
   @NONCES@ */
int @MODE@_encrypt(const @MODE@_keys *keys, const uint8_t *nonce, size_t nonce_size,
    const uint8_t *ad, size_t ad_size, const uint8_t *in, size_t in_size, uint8_t *out,
    size_t out_size, uint8_t *tag, size_t tag_size);

/* Decrypts them; FORGED if the tag is wrong, and then out is zeros. Do not read out before the
   call returns. */
int @MODE@_decrypt(const @MODE@_keys *keys, const uint8_t *nonce, size_t nonce_size,
    const uint8_t *ad, size_t ad_size, const uint8_t *in, size_t in_size, uint8_t *out,
    size_t out_size, const uint8_t *tag, size_t tag_size);
