//! Ascon-AEAD128 in C where a register is one word of one message: the state stays in registers
//! from the nonce to the tag.
//!
//! The calls for many messages keep it in memory between permutations, which takes a fifth of the
//! time of a message of 64 bytes.

/// Whole blocks of text, in a separate function: inlined, gcc keeps less of the state in registers.
pub const CRYPT_BLOCKS: &str = "
/* Whole blocks of text, with the state in registers from block to block; returns how many bytes are left. */
static __attribute__((noinline, flatten)) size_t crypt_blocks_of_one(reg *state, const uint8_t *in, uint8_t *out, size_t left, int decrypts)
{
    reg s[5], t[5];
    memcpy(s, state, sizeof s);
    for (; left >= 16; in += 16, out += 16, left -= 16) {
        uint64_t read[2];
        memcpy(read, in, 16);
        for (int w = 0; w < 2; w++) {
            uint64_t text = LITTLE(64, read[w]), sum = s[w] ^ text;
            s[w] = decrypts ? text : sum;
            sum = LITTLE(64, sum);
            memcpy(out + 8 * w, &sum, 8);
        }
        SHORT(s, t);
        memcpy(s, t, sizeof s);
    }
    memcpy(state, s, sizeof s);
    return left;
}

static inline size_t crypt_blocks(sponge *x, const uint8_t *in, uint8_t *out, size_t stride, size_t left, size_t now, int decrypts)
{
    (void)stride, (void)now;
    return crypt_blocks_of_one(x->s, in, out, left, decrypts);
}
";

/// A whole message. The key stays in memory, which is wiped, and is read again for each use.
pub const BATCH: &str = "static inline uint64_t whole_word(const uint8_t *p)
{
    uint64_t a;
    memcpy(&a, p, 8);
    return LITTLE(64, a);
}

/* Less than a word, then a bit and zeros. */
static inline uint64_t last_word(const uint8_t *p, size_t n)
{
    uint64_t a = UINT64_C(1) << 8 * n;
    for (size_t i = 0; i < n; i++)
        a |= (uint64_t)p[i] << 8 * i;
    return a;
}

/* The last n bytes of text, less than a word, and the padding, into the state's next word. */
static inline void crypt_end(reg *s, const uint8_t *in, uint8_t *out, size_t n, int decrypts)
{
    uint64_t pad = UINT64_C(1) << 8 * n, read = last_word(in, n) ^ pad, sum = (*s ^ read) & (pad - 1);
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(sum >> 8 * i);
    *s ^= (decrypts ? sum : read) ^ pad;
}

/* A message; its tag is written. */
static __attribute__((noinline, flatten)) void NAME_batch(const uint8_t *keys, const uint8_t *nonces, const uint8_t *ads, size_t n_ad,
    const uint8_t *in, uint8_t *out, size_t n, uint8_t *tags, size_t now, int decrypts)
{
    (void)now;
    reg key[2] = {whole_word(keys), whole_word(keys + 8)};
    reg s[5] = {UINT64_C(INITIAL), key[0], key[1], whole_word(nonces), whole_word(nonces + 8)}, t[5];
    __asm__ volatile(\"\" :: \"r\"(key) : \"memory\");
    LONG(s, t);
    memcpy(s, t, sizeof s);
    s[3] ^= key[0];
    s[4] ^= key[1];
    __asm__ volatile(\"\" :: \"r\"(key) : \"memory\");
    if (n_ad > 0) {
        size_t left = n_ad;
        for (; left >= 16; ads += 16, left -= 16) {
            s[0] ^= whole_word(ads);
            s[1] ^= whole_word(ads + 8);
            SHORT(s, t);
            memcpy(s, t, sizeof s);
        }
        if (left >= 8) {
            s[0] ^= whole_word(ads);
            s[1] ^= last_word(ads + 8, left - 8);
        } else {
            s[0] ^= last_word(ads, left);
        }
        SHORT(s, t);
        memcpy(s, t, sizeof s);
    }
    s[4] ^= UINT64_C(1) << 63;
    if (n >= 16) {
        size_t left = crypt_blocks_of_one(s, in, out, n, decrypts);
        in += n - left;
        out += n - left;
        n = left;
    }
    if (n >= 8) {
        uint64_t read = whole_word(in), sum = s[0] ^ read;
        s[0] = decrypts ? read : sum;
        sum = LITTLE(64, sum);
        memcpy(out, &sum, 8);
        crypt_end(s + 1, in + 8, out + 8, n - 8, decrypts);
    } else {
        crypt_end(s, in, out, n, decrypts);
    }
    s[2] ^= key[0];
    s[3] ^= key[1];
    __asm__ volatile(\"\" :: \"r\"(key) : \"memory\");
    LONG(s, t);
    for (int k = 0; k < 2; k++) {
        uint64_t sum = LITTLE(64, t[3 + k] ^ key[k]);
        memcpy(tags + 8 * k, &sum, 8);
    }
    wipe(key, sizeof key);
}
";
