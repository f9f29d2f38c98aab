    void (*many)(const uint8_t *in, size_t n, uint8_t *out, size_t n_out, size_t n_messages);
    void (*each)(const uint8_t *const *in, const size_t *n, uint8_t *out, size_t n_out, size_t n_messages);
    int (*init)(void *state, size_t n_messages);
    int (*update)(void *state, const uint8_t *const *in, size_t n);
    int (*finish)(void *state, uint8_t *const *out, size_t n);
