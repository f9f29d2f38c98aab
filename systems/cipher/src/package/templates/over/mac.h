
/* Makes the keys for a target, or for the best one if it is NULL. */
int @MODE@_expand(@MODE@_keys *keys, const char *target, const uint8_t *key, size_t key_size);

/* Overwrites keys that are no longer needed. */
void @MODE@_wipe(@MODE@_keys *keys);

/* The tag of a text: 16 bytes, or the first 8 to 15 of them. A block waits for the one before it, so
   this takes a batch's time a block. */
int @MODE@_tag(const @MODE@_keys *keys, const uint8_t *text, size_t text_size, uint8_t *tag,
    size_t tag_size);

/* OK if it is the tag of the text, FORGED if not; it takes as long wherever they differ. */
int @MODE@_verify(const @MODE@_keys *keys, const uint8_t *text, size_t text_size,
    const uint8_t *tag, size_t tag_size);
