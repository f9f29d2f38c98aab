
/* Makes the keys for a target, or for the best one if it is NULL. The key is two of the cipher's,
   @N_KEY@ bytes, and KEY is returned if they are the same. */
int @MODE@_expand(@MODE@_keys *keys, const char *target, const uint8_t *key, size_t key_size);

/* Overwrites keys that are no longer needed. */
void @MODE@_wipe(@MODE@_keys *keys);

/* Encrypts a sector of 16 to 2^24 bytes, in place if out is in. The tweak has 16 bytes: the number
   of the sector, least significant byte first. Nothing tells whether a sector was changed, or is
   an old one. */
int @MODE@_encrypt(const @MODE@_keys *keys, const uint8_t *tweak, size_t tweak_size,
    const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size);

/* Decrypts it. */
int @MODE@_decrypt(const @MODE@_keys *keys, const uint8_t *tweak, size_t tweak_size,
    const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size);
