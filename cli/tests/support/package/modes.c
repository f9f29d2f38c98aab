/* Ascon's modes through an installed library: the first published vectors, messages in a row, pieces, and what is refused. */
#include <ascon_aead128.h>
#include <ascon_hash256.h>
#include <ascon_xof128.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(int is_right, const char *what)
{
    if (!is_right) {
        printf("%s\n", what);
        exit(1);
    }
}

static void aead(const char *target)
{
    enum { MANY = 11, TEXT = 37 };
    uint8_t keys[16 * MANY], nonces[16 * MANY], in[TEXT * MANY], out[TEXT * MANY], tags[16 * MANY], is_right[MANY], one[TEXT], tag[16];
    for (size_t i = 0; i < sizeof keys; i++)
        keys[i] = (uint8_t)(i % 16), nonces[i] = (uint8_t)(16 + i % 16 + i / 16 * 3);
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(7 * i);
    expect(!ascon_aead128_encrypt(target, keys, 16, nonces, 16, NULL, 0, NULL, 0, NULL, 0, tag, 16), "a message of nothing");
    expect(!memcmp(tag, "\x4f\x9c\x27\x82\x11\xbe\xc9\x31\x6b\xf6\x8f\x46\xee\x8b\x2e\xc6", 16), "the first published tag");
    expect(!ascon_aead128_encrypt_many(target, keys, nonces, NULL, 0, in, out, TEXT, tags, MANY), "many messages");
    for (size_t m = 0; m < MANY; m++) {
        int code = ascon_aead128_encrypt(NULL, keys, 16, nonces + 16 * m, 16, NULL, 0, in + TEXT * m, TEXT, one, TEXT, tag, 16);
        expect(!code && !memcmp(one, out + TEXT * m, TEXT) && !memcmp(tag, tags + 16 * m, 16), "one message as among many");
    }
    tags[16] ^= 1;
    int code = ascon_aead128_decrypt_many(target, keys, nonces, NULL, 0, out, out, TEXT, tags, is_right, MANY);
    expect(code == ASCON_AEAD128_FORGED && is_right[0] && !is_right[1] && is_right[2] && !memcmp(out, in, TEXT), "a forgery among many");
    code = ascon_aead128_encrypt(target, keys, 15, nonces, 16, NULL, 0, in, TEXT, out, TEXT, tag, 16);
    expect(code == ASCON_AEAD128_LENGTH, "a key of 15 bytes");
    code = ascon_aead128_encrypt(target, keys, 16, nonces, 16, NULL, 0, in, TEXT, in + 1, TEXT, tag, 16);
    expect(code == ASCON_AEAD128_OVERLAPS, "text that overlaps");
    code = ascon_aead128_encrypt("vax", keys, 16, nonces, 16, NULL, 0, in, TEXT, out, TEXT, tag, 16);
    expect(code == ASCON_AEAD128_TARGET, "a target that is not here");
}

/* Messages of other lengths each as one alone, a forgery among them, and one in pieces. */
static void aead_each(const char *target)
{
    enum { MANY = 13 };
    uint8_t keys[16 * MANY], in[64], out[MANY][64], tags[MANY][16], one[64], tag[16];
    ascon_aead128_message messages[MANY];
    for (size_t i = 0; i < sizeof keys; i++)
        keys[i] = (uint8_t)(5 * i);
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(i * i);
    for (size_t m = 0; m < MANY; m++) {
        ascon_aead128_message it = {keys + 16 * m, keys + 1, in + m, 3 * m, in, out[m], 5 * m, tags[m], 0};
        messages[m] = it;
    }
    expect(!ascon_aead128_encrypt_each(target, messages, MANY), "messages of their own lengths");
    for (size_t m = 0; m < MANY; m++) {
        size_t n = 5 * m;
        int code = ascon_aead128_encrypt(NULL, keys + 16 * m, 16, keys + 1, 16, in + m, 3 * m, in, n, one, n, tag, 16);
        expect(!code && !memcmp(one, out[m], n) && !memcmp(tag, tags[m], 16), "one message as among others");
        ascon_aead128_state state;
        expect(!ascon_aead128_init(&state, target, keys + 16 * m, 16, keys + 1, 16) && !ascon_aead128_aad(&state, in + m, m), "a piece");
        expect(!ascon_aead128_aad(&state, in + 2 * m, 2 * m) && !ascon_aead128_update(&state, in, m, one, m), "pieces");
        expect(!ascon_aead128_update(&state, in + m, n - m, one + m, n - m) && !memcmp(one, out[m], n), "text in pieces");
        expect(ascon_aead128_final(&state, tag, 15) == ASCON_AEAD128_LENGTH, "a tag of 15 bytes");
        expect(!ascon_aead128_final(&state, tag, 16) && !memcmp(tag, tags[m], 16), "the tag of pieces");
        expect(ascon_aead128_update(&state, in, 1, one, 1) == ASCON_AEAD128_ENDED, "text behind the tag");
        ascon_aead128_wipe(&state);
        expect(ascon_aead128_aad(&state, in, 1) == ASCON_AEAD128_TARGET, "a message that was never started");
        messages[m].in = out[m];
    }
    tags[7][3] ^= 1;
    expect(ascon_aead128_decrypt_each(target, messages, MANY) == ASCON_AEAD128_FORGED, "a forgery among others");
    for (size_t m = 0; m < MANY; m++)
        expect(messages[m].is_right == (m != 7) && (m == 7 || !memcmp(out[m], in, 5 * m)), "which one was forged");
    messages[4].tag = NULL;
    expect(ascon_aead128_encrypt_each(target, messages, MANY) == ASCON_AEAD128_NULL, "a message without a place for its tag");
}

static void digests(const char *target)
{
    static const uint8_t none[32] = {0x0b, 0x3b, 0xe5, 0x85, 0x0f, 0x2f, 0x6b, 0x98};
    uint8_t text[100], whole[64], pieces[64];
    ascon_hash256_state hash;
    ascon_xof128_state xof;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)i;
    expect(!ascon_hash256_digest(target, NULL, 0, whole, 32) && !memcmp(whole, none, 8), "the digest of nothing");
    expect(!ascon_hash256_digest(target, text, 100, whole, 32) && !ascon_hash256_init(&hash, target), "a digest");
    expect(!ascon_hash256_update(&hash, text, 3) && !ascon_hash256_update(&hash, text + 3, 97), "a message in pieces");
    expect(ascon_hash256_final(&hash, pieces, 31) == ASCON_HASH256_LENGTH, "a digest of 31 bytes");
    expect(!ascon_hash256_final(&hash, pieces, 32) && !memcmp(pieces, whole, 32), "pieces are as the whole");
    expect(ascon_hash256_update(&hash, text, 1) == ASCON_HASH256_ENDED, "a piece behind the digest");
    ascon_hash256_wipe(&hash);
    expect(ascon_hash256_update(&hash, text, 1) == ASCON_HASH256_TARGET, "a message that was never started");
    expect(!ascon_xof128_digest(target, text, 100, whole, 64) && !ascon_xof128_init(&xof, target), "output");
    expect(!ascon_xof128_update(&xof, text, 100) && !ascon_xof128_squeeze(&xof, pieces, 5), "its first bytes");
    expect(!ascon_xof128_squeeze(&xof, pieces + 5, 59) && !memcmp(pieces, whole, 64), "output in pieces is as the whole");
    expect(ascon_xof128_update(&xof, text, 1) == ASCON_XOF128_ENDED, "a piece behind output");
    enum { EACH = 11 };
    const uint8_t *starts[EACH];
    size_t sizes[EACH];
    uint8_t all[EACH][32], longer[EACH][40];
    for (size_t m = 0; m < EACH; m++)
        starts[m] = text + m, sizes[m] = 9 * m;
    expect(!ascon_hash256_each(target, starts, sizes, all[0], 32, EACH), "digests of messages of their own lengths");
    expect(!ascon_xof128_each(target, starts, sizes, longer[0], 40, EACH), "outputs of messages of their own lengths");
    for (size_t m = 0; m < EACH; m++) {
        expect(!ascon_hash256_digest(NULL, starts[m], sizes[m], whole, 32) && !memcmp(whole, all[m], 32), "one digest as among others");
        expect(!ascon_xof128_digest(NULL, starts[m], sizes[m], whole, 40) && !memcmp(whole, longer[m], 40), "one output as among others");
    }
    starts[3] = NULL;
    expect(ascon_hash256_each(target, starts, sizes, all[0], 32, EACH) == ASCON_HASH256_NULL, "a message that is nowhere");
    expect(ascon_hash256_each(target, starts, sizes, all[0], 31, EACH) == ASCON_HASH256_LENGTH, "digests of 31 bytes");
}

int main(void)
{
    const char *targets[] = {NULL, "x86-64", "sse", "avx2", "avx512", "neon"};
    for (size_t k = 0; k < 6; k++)
        if (ascon_aead128_has(targets[k])) {
            aead(targets[k]);
            aead_each(targets[k]);
            digests(targets[k]);
        }
    puts(ascon_aead128_best());
    return 0;
}
