
/* Keys, aligned to 64 bytes. Only the functions below use their members. */
typedef struct {
    uint64_t mark, is_wide;
    char target[16];
    uint8_t key[32];
} __attribute__((aligned(64))) @MODE@_keys;

/* A message in pieces, aligned to 64 bytes. Only the functions below use its members. */
typedef struct {
    @NAME@_ctr stream;
    uint64_t hash[12], mark, n_ad, n_text, n_rest;
    uint8_t rest[16];
} __attribute__((aligned(64))) @MODE@_state;
