
/* Keys, aligned to 64 bytes. Only the functions below use their members. */
typedef struct {
    @NAME@_decrypt_keys inverse;
} __attribute__((aligned(64))) @MODE@_keys;
