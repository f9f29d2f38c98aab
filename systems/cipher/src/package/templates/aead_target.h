    int (*encrypt_many)(const uint8_t *keys, const uint8_t *nonces, const uint8_t *ads, size_t n_ad, const uint8_t *in, uint8_t *out, size_t n,
        uint8_t *tags, size_t n_messages);
    int (*decrypt_many)(const uint8_t *keys, const uint8_t *nonces, const uint8_t *ads, size_t n_ad, const uint8_t *in, uint8_t *out, size_t n,
        const uint8_t *tags, uint8_t *is_right, size_t n_messages);
    int (*encrypt_each)(const void *messages, size_t n_messages);
    int (*decrypt_each)(void *messages, size_t n_messages);
    void (*init)(void *state, const uint8_t *key, const uint8_t *nonce);
    int (*aad)(void *state, const uint8_t *ad, size_t n);
    int (*update)(void *state, const uint8_t *in, uint8_t *out, size_t n);
    int (*final)(void *state, uint8_t *tag);
