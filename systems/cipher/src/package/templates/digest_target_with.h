    int (*init_with)(void *state, size_t n_messages, size_t n_out, const uint8_t *key, size_t n_key, const uint8_t *salt, const uint8_t *personal);
