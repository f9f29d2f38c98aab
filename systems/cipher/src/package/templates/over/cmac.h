
/* Keys, aligned to 64 bytes. Only the functions below use their members. */
typedef struct {
    @NAME@_keys cipher;
    uint8_t ends[2][16];
} __attribute__((aligned(64))) @MODE@_keys;
