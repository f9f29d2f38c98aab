/* A mode over a cipher with key and text that valgrind knows are undefined; nonces and associated
   data are public. */
#include "cases.h"

int main(void)
{
    enum { N = 5000 };
    static CALL(_keys) keys;
    uint8_t *key = malloc(N_KEY), *in = malloc(N), *out = malloc(N), public[24] = {1}, tag[16];
    __asm__ volatile("" : "+r"(key), "+r"(in) : : "memory");
    /* Memory that was never written may be zeros, in both halves. */
    key[0] ^= 1;
    expect(!CALL(_expand)(&keys, NULL, key, N_KEY), "expand");
    for (size_t n = 16; n <= N; n = n * 3 + 1) {
#if defined CHAINED
        (void)tag;
        expect(!CALL(_decrypt)(&keys, public, 16, in, n / 16 * 16, out, n / 16 * 16), "decrypt");
#elif defined MAC
        (void)public, (void)out;
        expect(!CALL(_tag)(&keys, in, n, tag, 16), "tag");
        expect(!CALL(_verify)(&keys, in, n, tag, 16), "verify");
        tag[3] ^= 1;
        expect(CALL(_verify)(&keys, in, n, tag, 16) == 1, "a forgery");
#elif defined TWEAKED
        (void)tag;
        expect(!CALL(_encrypt)(&keys, public, 16, in, n, out, n), "encrypt");
        expect(!CALL(_decrypt)(&keys, public, 16, out, n, out, n), "decrypt");
#else
        expect(!CALL(_encrypt)(&keys, public, N_NONCE, public, 9, in, n, out, n, tag, 16),
            "encrypt");
        expect(!CALL(_decrypt)(&keys, public, N_NONCE, public, 9, out, n, out, n, tag, 16),
            "decrypt");
        tag[3] ^= 1;
        expect(CALL(_decrypt)(&keys, public, N_NONCE, public, 9, out, n, out, n, tag, 16) == 1,
            "a forgery");
#endif
    }
#ifdef PIECES
    static CALL(_state) state;
    expect(!CALL(_init)(&state, &keys, public, N_NONCE) && !CALL(_aad)(&state, &keys, public, 9),
        "init");
    expect(!CALL(_update)(&state, &keys, in, 77, out, 77) && !CALL(_update)(&state, &keys, in, 99,
        out, 99), "update");
    expect(!CALL(_final)(&state, &keys, tag, 16), "final");
    CALL(_state_wipe)(&state);
#endif
    CALL(_wipe)(&keys);
}
