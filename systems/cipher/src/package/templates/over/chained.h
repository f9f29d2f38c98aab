
/* Makes the keys for a target, or for the best one if it is NULL. */
int @MODE@_expand(@MODE@_keys *keys, const char *target, const uint8_t *key, size_t key_size);

/* Overwrites keys that are no longer needed. */
void @MODE@_wipe(@MODE@_keys *keys);

/* Decrypts whole blocks, in place if out is in. The iv has 16 bytes; that of the next piece of a text
   is the last block of the ciphertext before it. Padding stays where it is: whoever learns whether it
   was right can decrypt any text, so verify a tag of the ciphertext first, and only then look. */
int @MODE@_decrypt(const @MODE@_keys *keys, const uint8_t *iv, size_t iv_size, const uint8_t *in,
    size_t in_size, uint8_t *out, size_t out_size);
