
/* GCM-SIV: keys of each nonce, POLYVAL by the products of GHASH with bytes reversed, counters of
   32 bits from the tag. */
#define AD_MAX (UINT64_C(1) << 36)
#define TEXT_MAX (UINT64_C(1) << 36)
enum { AT_ONCE = 16 * @WIDTH@ };

/* What a message has for itself. */
typedef struct {
    @NAME@_keys cipher;
    uint64_t factor[6], hash[2];
    uint8_t wide[2][32][16][16];
    int is_wide;
} __attribute__((aligned(64))) message;

static int nonce_fits(size_t n)
{
    return n == 12;
}

static uint64_t little64(const uint8_t *p)
{
    uint64_t x = 0;
    for (int i = 8; i-- > 0;)
        x = x << 8 | p[i];
    return x;
}

static void put_little(uint8_t *p, uint64_t x, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = (uint8_t)(x >> 8 * i);
}

int @MODE@_expand(@MODE@_keys *keys, const char *target, const uint8_t *key, size_t key_size)
{
    int code = unfit(keys);
    target = target ? target : @NAME@_best();
    if (!code)
        code = @NAME@_expand(&keys->cipher, target, key, key_size);
    if (!code)
        strcpy(keys->target, target);
    return code;
}

/* The keys for a nonce, and no sum yet. */
static int derive(message *m, const @MODE@_keys *keys, const uint8_t *nonce, size_t n)
{
    enum { N = 2 + @N_KEY@ / 8 };
    uint8_t block[16 * N], key[16 + @N_KEY@];
    for (int i = 0; i < N; i++) {
        put_little(block + 16 * i, (uint64_t)i, 4);
        memcpy(block + 16 * i + 4, nonce, 12);
    }
    int code = @NAME@_blocks(&keys->cipher, block, sizeof block, block, sizeof block);
    for (int i = 0; i < N; i++)
        memcpy(key + 8 * i, block + 16 * i, 8);
    if (!code)
        code = @NAME@_expand(&m->cipher, keys->target, key + 16, @N_KEY@);
    /* One more x, as bits are in the other order here. */
    uint64_t high = little64(key + 8), low = little64(key), odd = 0 - (low & 1);
    set_factor(m->factor, high >> 1 ^ (odd & UINT64_C(0xe1) << 56), low >> 1 | high << 63);
    m->hash[0] = m->hash[1] = 0;
    /* A shorter message does not pay for the tables. */
    m->is_wide = n >= 2048 && set_wide(m->wide, m->factor, keys->target);
    wipe(block, sizeof block);
    wipe(key, sizeof key);
    return code;
}

/* Adds bytes, filled with zeros to whole blocks. */
static void absorb(message *m, const uint8_t *in, size_t n)
{
    if (m->is_wide && n >= 16 * 48) {
        hash_wide(m->hash, m->factor, ((const message *)m)->wide, in, n / 16, 1);
        in += n / 16 * 16;
        n %= 16;
    }
    for (size_t now; n > 0; n -= now, in += now) {
        uint8_t last[16] = {0};
        now = n < 16 ? n : 16;
        if (now < 16)
            memcpy(last, in, now);
        const uint8_t *p = now < 16 ? last : in;
        m->hash[0] ^= little64(p);
        m->hash[1] ^= little64(p + 8);
        multiply(m->hash, m->factor);
    }
}

static void make_tag(message *m, const uint8_t *nonce, const uint8_t *ad, size_t ad_size,
    const uint8_t *text, size_t n, uint8_t *tag)
{
    uint8_t sizes[16];
    put_little(sizes, (uint64_t)ad_size << 3, 8);
    put_little(sizes + 8, (uint64_t)n << 3, 8);
    absorb(m, ad, ad_size);
    absorb(m, text, n);
    absorb(m, sizes, 16);
    put_little(tag, m->hash[0], 8);
    put_little(tag + 8, m->hash[1], 8);
    for (int i = 0; i < 12; i++)
        tag[i] ^= nonce[i];
    tag[15] &= 0x7f;
    @NAME@_blocks(&m->cipher, tag, 16, tag, 16);
}

static void xor_stream(const message *m, const uint8_t *tag, const uint8_t *in, uint8_t *out,
    size_t n)
{
    uint8_t stream[AT_ONCE];
    uint64_t count = MEANWHILE_PUBLIC(little64(tag));
    for (size_t now; n > 0; n -= now, in += now, out += now) {
        now = n < AT_ONCE ? n : AT_ONCE;
        size_t whole = (now + 15) / 16 * 16;
        for (size_t i = 0; i < whole; i += 16) {
            memcpy(stream + i, tag, 16);
            put_little(stream + i, count++, 4);
            stream[i + 15] |= 0x80;
        }
        @NAME@_blocks(&m->cipher, stream, whole, stream, whole);
        for (size_t i = 0; i < now; i++)
            out[i] = in[i] ^ stream[i];
    }
    wipe(stream, sizeof stream);
}

static int seal(const @MODE@_keys *keys, const uint8_t *nonce, size_t nonce_size,
    const uint8_t *ad, size_t ad_size, const uint8_t *in, size_t n, uint8_t *out, uint8_t *tag)
{
    (void)nonce_size;
    message m;
    uint8_t own[16];
    int code = derive(&m, keys, nonce, n);
    if (!code) {
        /* The tag is where it is to be only when nonce and text have been read. */
        make_tag(&m, nonce, ad, ad_size, in, n, own);
        xor_stream(&m, own, in, out, n);
        memcpy(tag, own, 16);
    }
    wipe(own, sizeof own);
    wipe(&m, sizeof m);
    return code;
}

/* The tag is of the text, which is made first, and overwritten if the tag is wrong. */
static int unseal(const @MODE@_keys *keys, const uint8_t *nonce, size_t nonce_size,
    const uint8_t *ad, size_t ad_size, const uint8_t *in, size_t n, uint8_t *out,
    const uint8_t *tag, uint8_t *own)
{
    (void)nonce_size;
    message m;
    int code = derive(&m, keys, nonce, n);
    if (!code) {
        xor_stream(&m, tag, in, out, n);
        make_tag(&m, nonce, ad, ad_size, out, n, own);
        code = is_same(own, tag) ? @UP@_OK : @UP@_FORGED;
    }
    wipe(&m, sizeof m);
    return code;
}
