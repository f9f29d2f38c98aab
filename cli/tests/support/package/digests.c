/* SHAKE128, SHA3-512, SHA-256 and BLAKE2 of packages on every target: a line with name, lengths and output of each message alone; many,
   each and side by side must give the same, and wrong calls are refused. */
#include <blake2b512.h>
#include <blake2s256.h>
#include <sha256.h>
#include <sha3_512.h>
#include <shake128.h>
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

enum { LONGEST = 3 * 168 + 1, MANY = 65, OUT = 345 };
static uint8_t text[LONGEST + MANY], many[LONGEST * MANY], one[OUT], all[OUT * MANY], places[OUT * MANY];

#define CHECK(name, UP, end, n_out)                                                                                          \
    static void check_##name(const char *target, size_t n, size_t n_messages)                                                \
    {                                                                                                                        \
        const uint8_t *starts[MANY];                                                                                         \
        uint8_t *outs[MANY];                                                                                                 \
        size_t sizes[MANY], width = name##_width(target), side = n_messages < width ? n_messages : width;                    \
        static name##_state state;                                                                                           \
        for (size_t m = 0; m < n_messages; m++) {                                                                            \
            memcpy(many + n * m, text + m, n);                                                                               \
            starts[m] = text + m, sizes[m] = m % 3 ? n - n / (m + 1) : n, outs[m] = places + (n_out) * m;                    \
        }                                                                                                                    \
        expect(!name##_many(target, many, n, all, n_out, n_messages), "many messages");                                      \
        for (size_t m = 0; m < n_messages; m++) {                                                                            \
            expect(!name##_digest(target, text + m, n, one, n_out), "one message");                                          \
            expect(!memcmp(one, all + (n_out) * m, n_out), "one message as among many");                                     \
        }                                                                                                                    \
        expect(!name##_init_many(&state, target, side), "messages side by side");                                            \
        expect(!name##_update_many(&state, starts, n / 3), "pieces of each");                                                \
        if (side > 1)                                                                                                        \
            expect(name##_update(&state, text, 1) == UP##_LENGTH, "one of several");                                         \
        for (size_t m = 0; m < side; m++)                                                                                    \
            starts[m] += n / 3;                                                                                              \
        expect(!name##_update_many(&state, starts, n - n / 3) && !name##_##end##_many(&state, outs, n_out), "their ends");  \
        expect(!memcmp(places, all, (n_out) * side), "messages side by side as among many");                                 \
        expect(name##_update_many(&state, starts, 1) == UP##_ENDED, "a piece behind the end");                               \
        for (size_t m = 0; m < n_messages; m++)                                                                              \
            starts[m] = text + m;                                                                                            \
        expect(!name##_each(target, starts, sizes, all, n_out, n_messages), "messages of their own lengths");                \
        for (size_t m = 0; m < n_messages; m++) {                                                                            \
            expect(!name##_digest(NULL, starts[m], sizes[m], one, n_out), "one message of its length");                      \
            expect(!memcmp(one, all + (n_out) * m, n_out), "one message as among others");                                   \
        }                                                                                                                    \
        expect(name##_init_many(&state, target, width + 1) == UP##_LENGTH, "more messages than a batch has");                \
        expect(name##_init_many(&state, NULL, 1000) == UP##_LENGTH, "more than every target has");                           \
        expect(name##_init_many(&state, NULL, 0) == UP##_LENGTH, "no message");                                              \
        expect(name##_update(&state, text, 1) == UP##_TARGET, "a state that was never made");                                \
        expect(!name##_init(&state, target) && !name##_update(&state, text, n / 2), "one message in pieces");                \
        expect(name##_update(&state, NULL, 1) == UP##_NULL, "a piece that is nowhere");                                      \
        expect(!name##_update(&state, text + n / 2, n - n / 2) && !name##_##end(&state, one, n_out), "its end");             \
        name##_wipe(&state);                                                                                                 \
        expect(!name##_digest(target, text, n, all, n_out) && !memcmp(one, all, n_out), "pieces are as the whole");          \
    }                                                                                                                        \
    static void show_##name(size_t n)                                                                                        \
    {                                                                                                                        \
        expect(!name##_digest(NULL, text, n, one, n_out), "a message");                                                      \
        printf(#name ",%zu,%d,", n, n_out);                                                                                  \
        for (size_t i = 0; i < (n_out); i++)                                                                                 \
            printf("%02x", one[i]);                                                                                          \
        printf("\n");                                                                                                        \
    }

CHECK(shake128, SHAKE128, squeeze, 345)
CHECK(sha3_512, SHA3_512, final, 64)
CHECK(sha256, SHA256, final, 32)
CHECK(blake2s256, BLAKE2S256, final, 32)
CHECK(blake2b512, BLAKE2B512, final, 64)

/* Keys, salts and sizes of digests: side by side on each target as alone. */
#define CHECK_WITH(name, UP, most, n_salt)                                                                                   \
    static void check_with_##name(const char *target, size_t n, size_t n_key, size_t n_out, size_t n_own)                    \
    {                                                                                                                        \
        const uint8_t *starts[MANY], *key = text + 9, *salt = text + 5, *own = text + 7;                                     \
        uint8_t *outs[MANY];                                                                                                 \
        size_t side = name##_width(target);                                                                                  \
        static name##_state state;                                                                                           \
        for (size_t m = 0; m < side; m++)                                                                                    \
            starts[m] = text + m, outs[m] = places + n_out * m;                                                              \
        expect(!name##_init_many_with(&state, target, side, n_out, key, n_key, salt, n_own, own, n_own), "side by side");    \
        expect(!name##_update_many(&state, starts, n / 3), "pieces of each");                                                \
        for (size_t m = 0; m < side; m++)                                                                                    \
            starts[m] += n / 3;                                                                                              \
        expect(!name##_update_many(&state, starts, n - n / 3), "their ends");                                                \
        expect(name##_final_many(&state, outs, n_out + 1) == UP##_LENGTH, "more than the digest has");                       \
        expect(!name##_final_many(&state, outs, n_out), "the digests");                                                      \
        for (size_t m = 0; m < side; m++) {                                                                                  \
            expect(!name##_init_with(&state, NULL, n_out, key, n_key, salt, n_own, own, n_own), "one alone");                \
            expect(!name##_update(&state, text + m, n) && !name##_final(&state, one, n_out), "its digest");                  \
            expect(!memcmp(one, places + n_out * m, n_out), "one as among many");                                            \
        }                                                                                                                    \
        if (n_key == 0)                                                                                                      \
            return;                                                                                                          \
        expect(!name##_mac(target, key, n_key, text, n, one, n_out), "a tag");                                               \
        expect(!name##_init_with(&state, target, n_out, key, n_key, NULL, 0, NULL, 0), "the same in pieces");                \
        expect(!name##_update(&state, text, n) && !name##_final(&state, all, n_out) && !memcmp(one, all, n_out), "is the same");\
        expect(!name##_verify(target, key, n_key, text, n, one, n_out), "the tag is right");                                 \
        for (size_t i = 0; i < n_out; i++) {                                                                                 \
            one[i] ^= 0x40;                                                                                                  \
            expect(name##_verify(target, key, n_key, text, n, one, n_out) == UP##_FORGED, "a forged tag");                   \
            one[i] ^= 0x40;                                                                                                  \
        }                                                                                                                    \
    }                                                                                                                        \
    static void refuse_##name(const char *target)                                                                            \
    {                                                                                                                        \
        static name##_state state;                                                                                           \
        static const size_t wrong[][4] = {                                                                                   \
            {0, 0, 0, 0}, {(most) + 1, 0, 0, 0}, {most, (most) + 1, 0, 0}, {most, 0, (n_salt) + 1, 0}, {most, 0, 0, (n_salt) + 1},\
        };                                                                                                                   \
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {                                                          \
            const size_t *n = wrong[i];                                                                                      \
            expect(name##_init_with(&state, target, n[0], text, n[1], text, n[2], text, n[3]) == UP##_LENGTH, "a wrong size");\
        }                                                                                                                    \
        expect(name##_update(&state, text, 1) == UP##_TARGET, "a state that was never made");                                \
        expect(name##_init_with(&state, target, most, NULL, 1, NULL, 0, NULL, 0) == UP##_NULL, "a key that is nowhere");     \
        expect(name##_init_with(&state, target, most, NULL, 0, NULL, 1, NULL, 0) == UP##_NULL, "a salt that is nowhere");    \
        expect(name##_init_many_with(&state, target, 1000, most, NULL, 0, NULL, 0, NULL, 0) == UP##_LENGTH, "too many");     \
        expect(name##_mac(target, text, 0, text, 1, one, most) == UP##_LENGTH, "no key");                                    \
        expect(name##_mac(target, text, 1, NULL, 1, one, most) == UP##_NULL, "no text");                                     \
        expect(name##_mac(target, text, 1, text, 1, one, (most) + 1) == UP##_LENGTH, "a tag that is too long");              \
        expect(name##_verify(target, text, 1, text, 1, NULL, most) == UP##_NULL, "no tag");                                  \
        expect(!name##_init(&state, target) && name##_final(&state, one, (most) - 1) == UP##_LENGTH, "a part of a digest");  \
        name##_wipe(&state);                                                                                                 \
    }                                                                                                                        \
    static void show_with_##name(size_t n, size_t n_key, size_t n_out, size_t n_own)                                         \
    {                                                                                                                        \
        static name##_state state;                                                                                           \
        expect(!name##_init_with(&state, NULL, n_out, text + 9, n_key, text + 5, n_own, text + 7, n_own), "a message");      \
        expect(!name##_update(&state, text, n) && !name##_final(&state, one, n_out), "its digest");                          \
        printf(#name ",%zu,%zu,%zu,%zu,", n, n_out, n_key, n_own);                                                           \
        for (size_t i = 0; i < n_out; i++)                                                                                   \
            printf("%02x", one[i]);                                                                                          \
        printf("\n");                                                                                                        \
    }

CHECK_WITH(blake2s256, BLAKE2S256, 32, 8)
CHECK_WITH(blake2b512, BLAKE2B512, 64, 16)

int main(void)
{
    static const char *targets[] = {"x86-64", "sse", "avx2", "avx512", "neon", "generic"};
    static const size_t words_of_32_bits[] = {1, 4, 8, 16, 4, 1};
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(i % 251);
    for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
        if (!shake128_has(targets[k]))
            continue;
        size_t width = sha256_width(targets[k]);
        expect(width == words_of_32_bits[k], "a register of SHA-256, as no more states fit");
        expect(shake128_width(targets[k]) == (width > 1 ? width / 2 : 1), "the same of SHAKE128");
        expect(blake2s256_width(targets[k]) == width, "the same of BLAKE2s");
        expect(blake2b512_width(targets[k]) == shake128_width(targets[k]), "the same of BLAKE2b");
        for (size_t n_messages = 1; n_messages <= 2 * width + 1; n_messages++) {
            size_t n = (n_messages * 71) % LONGEST;
            check_shake128(targets[k], n, n_messages);
            check_sha3_512(targets[k], n, n_messages);
            check_sha256(targets[k], n, n_messages);
            check_blake2s256(targets[k], n - n % 64, n_messages);
            check_blake2s256(targets[k], n, n_messages);
            check_blake2b512(targets[k], n - n % 128, n_messages);
            check_blake2b512(targets[k], n, n_messages);
        }
        for (size_t n = 0, i = 0; n <= 2 * 128 + 1; n += n % 64 < 2 || n % 64 == 63 ? 1 : 61, i++) {
            check_with_blake2s256(targets[k], n, i * 7 % 33, 1 + i * 5 % 32, i % 9);
            check_with_blake2b512(targets[k], n, i * 13 % 65, 1 + i * 11 % 64, i % 17);
        }
        refuse_blake2s256(targets[k]);
        refuse_blake2b512(targets[k]);
    }
    for (size_t n = 0; n <= LONGEST; n += 1 + n / 2 % 5) {
        show_shake128(n);
        show_sha3_512(n);
        show_sha256(n);
        show_blake2s256(n);
        show_blake2b512(n);
        show_with_blake2s256(n, n * 7 % 33, 1 + n * 5 % 32, n % 9);
        show_with_blake2b512(n, n * 13 % 65, 1 + n * 11 % 64, n % 17);
    }
    return 0;
}
