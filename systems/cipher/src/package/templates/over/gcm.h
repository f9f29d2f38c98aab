
/* Keys, aligned to 64 bytes. Only the functions below use their members. */
typedef struct {
    @NAME@_keys cipher;
    uint64_t factor[6], is_wide, unused;
    uint8_t wide[2][32][16][16];
} __attribute__((aligned(64))) @MODE@_keys;

/* A message in pieces, aligned to 64 bytes. Only the functions below use its members. */
typedef struct {
    @NAME@_ctr stream;
    uint64_t hash[2], mark, n_ad, n_text, n_rest, left;
    uint8_t counter[16], mask[16], rest[16];
} __attribute__((aligned(64))) @MODE@_state;
