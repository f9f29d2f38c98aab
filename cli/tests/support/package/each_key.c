/* Blocks with a key each, on every target: the bytes of the same blocks one by one, in place too, and what is refused. With an
   argument only calls on memory that valgrind knows is undefined. */
#include <aes128.h>
#include <aes256_decrypt.h>
#include <clyde128.h>
#include <present80.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const targets[] = {"x86-64", "sse", "avx2", "avx512", "neon", "generic"};
enum { N_TARGETS = sizeof targets / sizeof *targets, MOST = 2 * 512 + 1, LONGEST = 32 };

static void expect(int is_right, const char *what)
{
    if (!is_right) {
        printf("%s\n", what);
        exit(1);
    }
}

/* GIVEN and ONE: the arguments for the keys of n blocks, and for that of block b. */
#define NAME(name, end) name##_##end
#define CHECK(name, UP, BLOCK, GIVEN, ONE)                                                                                   \
    static void NAME(name, secret)(const uint8_t *keys, const uint8_t *tweaks, const uint8_t *in, uint8_t *out)              \
    {                                                                                                                        \
        (void)tweaks;                                                                                                        \
        for (size_t k = 0; k < N_TARGETS; k++)                                                                               \
            if (NAME(name, has)(targets[k])) {                                                                               \
                size_t n = NAME(name, width)(targets[k]) + 1;                                                                \
                expect(!NAME(name, blocks_each_key)(targets[k], GIVEN, in, (BLOCK) * n, out, (BLOCK) * n), "secret keys");   \
            }                                                                                                                \
    }                                                                                                                        \
    static void NAME(name, check)(const uint8_t *keys, const uint8_t *tweaks, const uint8_t *in, uint8_t *out)               \
    {                                                                                                                        \
        static NAME(name, keys) made;                                                                                        \
        uint8_t one[BLOCK];                                                                                                  \
        size_t n_checked = 0;                                                                                                \
        (void)tweaks;                                                                                                        \
        for (size_t k = 0; k < N_TARGETS; k++) {                                                                             \
            size_t width = NAME(name, width)(targets[k]);                                                                    \
            for (size_t n = 0; width > 0 && n <= 2 * width + 1; n += 1 + n / 7) {                                            \
                memset(out, 0, (BLOCK) * n + 1);                                                                             \
                expect(!NAME(name, blocks_each_key)(targets[k], GIVEN, in, (BLOCK) * n, out, (BLOCK) * n), "each key");      \
                expect(!out[(BLOCK) * n], "a byte too many");                                                                \
                for (size_t b = 0; b < n; b++) {                                                                             \
                    expect(!NAME(name, expand)(&made, targets[k], ONE), "one key");                                          \
                    expect(!NAME(name, blocks)(&made, in + (BLOCK) * b, BLOCK, one, BLOCK), "one block");                    \
                    expect(!memcmp(one, out + (BLOCK) * b, BLOCK), "a block as alone");                                      \
                }                                                                                                            \
                if (n > 0) {                                                                                                 \
                    memcpy(one, out, BLOCK);                                                                                 \
                    memcpy(out, in, (BLOCK) * n);                                                                            \
                    expect(!NAME(name, blocks_each_key)(NULL, GIVEN, out, (BLOCK) * n, out, (BLOCK) * n), "in place");       \
                    expect(!memcmp(one, out, BLOCK), "a block in place");                                                    \
                }                                                                                                            \
                n_checked += n;                                                                                              \
            }                                                                                                                \
        }                                                                                                                    \
        expect(n_checked > 5, "no target is here");                                                                          \
        size_t n = 3;                                                                                                        \
        uint8_t *inside = (uint8_t *)(uintptr_t)keys;                                                                        \
        expect(NAME(name, blocks_each_key)("z80", GIVEN, in, (BLOCK) * n, out, (BLOCK) * n) == UP##_TARGET, "a target");     \
        expect(NAME(name, blocks_each_key)(NULL, GIVEN, in, (BLOCK) * n - 1, out, (BLOCK) * n) == UP##_LENGTH, "a part");    \
        expect(NAME(name, blocks_each_key)(NULL, GIVEN, in, (BLOCK) * n, out, (BLOCK) * n - 1) == UP##_LENGTH, "no room");   \
        expect(NAME(name, blocks_each_key)(NULL, GIVEN, in, (BLOCK) * 2, out, (BLOCK) * n) == UP##_LENGTH, "a key more");    \
        expect(NAME(name, blocks_each_key)(NULL, GIVEN, NULL, (BLOCK) * n, out, (BLOCK) * n) == UP##_NULL, "no text");       \
        expect(NAME(name, blocks_each_key)(NULL, GIVEN, out + 1, (BLOCK) * n, out, (BLOCK) * n) == UP##_OVERLAPS, "lap");    \
        expect(NAME(name, blocks_each_key)(NULL, GIVEN, in, (BLOCK) * n, inside, (BLOCK) * n) == UP##_OVERLAPS, "on keys");  \
        n = 0;                                                                                                               \
        expect(!NAME(name, blocks_each_key)(NULL, GIVEN, NULL, 0, NULL, 0), "no block");                                     \
    }

#define KEY(n_key) keys, (n_key) * n
#define ONE_KEY(n_key) keys + (n_key) * b, n_key
#define TWEAK keys, 16 * n, tweaks, 16 * n
#define ONE_TWEAK keys + 16 * b, 16, tweaks + 16 * b, 16

CHECK(aes128, AES128, 16, KEY(16), ONE_KEY(16))
CHECK(aes256_decrypt, AES256_DECRYPT, 16, KEY(32), ONE_KEY(32))
CHECK(present80, PRESENT80, 8, KEY(10), ONE_KEY(10))
CHECK(clyde128, CLYDE128, 16, TWEAK, ONE_TWEAK)

int main(int n_args, char **args)
{
    uint8_t *keys = malloc(LONGEST * MOST), *tweaks = malloc(LONGEST * MOST), *in = malloc(LONGEST * MOST);
    uint8_t *out = malloc(LONGEST * MOST);
    expect(keys && tweaks && in && out, "no memory");
    (void)args;
    if (n_args > 1) {
        __asm__ volatile("" : "+r"(keys), "+r"(tweaks), "+r"(in) : : "memory");
        aes128_secret(keys, tweaks, in, out);
        aes256_decrypt_secret(keys, tweaks, in, out);
        present80_secret(keys, tweaks, in, out);
        clyde128_secret(keys, tweaks, in, out);
        return 0;
    }
    for (size_t i = 0; i < LONGEST * MOST; i++)
        keys[i] = (uint8_t)(i * i % 251), tweaks[i] = (uint8_t)(i % 241), in[i] = (uint8_t)(7 * i % 239);
    aes128_check(keys, tweaks, in, out);
    aes256_decrypt_check(keys, tweaks, in, out);
    present80_check(keys, tweaks, in, out);
    clyde128_check(keys, tweaks, in, out);
    free(keys), free(tweaks), free(in), free(out);
    return 0;
}
