
/* Keys, aligned to 64 bytes. Only the functions below use their members. */
typedef struct {
    @NAME@_keys cipher;
    char target[16];
} __attribute__((aligned(64))) @MODE@_keys;
