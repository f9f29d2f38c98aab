/* What a user of the package does, and what goes wrong: each target against OpenSSL's streams, which the two files hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aes128.h"
#include "chacha20.h"
#include "lea128.h"

#define CHECK(x)                                        \
    do {                                                \
        if (!(x)) {                                     \
            printf("%s:%d: %s\n", target ? target : "best", __LINE__, #x); \
            exit(1);                                    \
        }                                               \
    } while (0)

enum { N = 20000 };
static uint8_t aes[N], chacha[N], text[N], out[N];

static void read_file(const char *path, uint8_t *to)
{
    FILE *file = fopen(path, "rb");
    if (!file || fread(to, 1, N, file) != N)
        exit(2);
    fclose(file);
}

static void streams(const char *target)
{
    static aes128_keys keys;
    static aes128_ctr ctr;
    uint8_t key[16], start[16];
    memset(key, 7, sizeof key);
    memset(start, 9, sizeof start);
    CHECK(aes128_expand(&keys, target, key, 16) == AES128_OK);
    size_t longest = 4 * 16 * aes128_width(target) + 1;
    for (size_t n = 0; n <= longest; n++) {
        CHECK(aes128_ctr_init(&ctr, &keys, start, 16) == AES128_OK);
        memset(out, 0xa5, n + 8);
        CHECK(aes128_ctr_xor(&ctr, &keys, text, n, out, n) == AES128_OK);
        CHECK(!memcmp(out, aes, n) && out[n] == 0xa5);
    }
}

static void streams_of_chacha(const char *target)
{
    static chacha20_ctr cha;
    uint8_t key[32], start[12];
    memset(key, 7, sizeof key);
    memset(start, 9, sizeof start);
    size_t longest = 4 * 64 * chacha20_width(target) + 1;
    for (size_t n = 0; n <= longest; n++) {
        CHECK(chacha20_ctr_init(&cha, target, key, 32, 5, start, 12) == CHACHA20_OK);
        CHECK(chacha20_ctr_xor(&cha, text, n / 3, out, N) == CHACHA20_OK);
        CHECK(chacha20_ctr_xor(&cha, text + n / 3, n - n / 3, out + n / 3, N) == CHACHA20_OK);
        CHECK(!memcmp(out, chacha, n));
        /* A message, in place, and one more: the last blocks are by narrower code. */
        memcpy(out, text, n + 70);
        CHECK(chacha20_ctr_init(&cha, target, key, 32, 5, start, 12) == CHACHA20_OK);
        CHECK(chacha20_ctr_xor(&cha, out, n, out, n) == CHACHA20_OK && !memcmp(out, chacha, n));
        CHECK(!memcmp(out + n, text + n, 70));
        CHECK(chacha20_ctr_xor(&cha, out + n, 70, out + n, 70) == CHACHA20_OK);
        CHECK(!memcmp(out, chacha, n + 70));
        chacha20_ctr_wipe(&cha);
        for (size_t i = 0; i < sizeof cha; i++)
            CHECK(((uint8_t *)&cha)[i] == 0);
    }
}

/* Refused as a whole, whichever code its last blocks would be by. */
static void refused(const char *target)
{
    static chacha20_ctr cha;
    static uint8_t key[32], start[12];
    size_t batch = chacha20_width(target) * 64;
    for (size_t n = 1; n <= 2 * batch + 64; n += n % 64 == 1 ? 62 : 1) {
        uint32_t last = (uint32_t)(0 - (n + 63) / 64);
        memset(out, 0xa5, 2 * n + 64);
        CHECK(chacha20_ctr_init(&cha, target, key, 32, last + 1, start, 12) == CHACHA20_OK);
        CHECK(chacha20_ctr_xor(&cha, out, n, out, n) == (last + 1 ? CHACHA20_ENDS : CHACHA20_OK) || n <= 64);
        CHECK(chacha20_ctr_init(&cha, target, key, 32, last, start, 12) == CHACHA20_OK);
        CHECK(chacha20_ctr_xor(&cha, NULL, n, out, n) == CHACHA20_NULL);
        CHECK(chacha20_ctr_xor(&cha, text, n, NULL, n) == CHACHA20_NULL);
        CHECK(n < 2 || chacha20_ctr_xor(&cha, out, n, out + n - 1, n) == CHACHA20_OVERLAPS);
        CHECK(n < 2 || chacha20_ctr_xor(&cha, out + n - 1, n, out, n) == CHACHA20_OVERLAPS);
        for (size_t i = 0; i < 2 * n + 64 && n > 64; i++)
            CHECK(out[i] == 0xa5);
        CHECK(chacha20_ctr_xor(&cha, text, n, out, n) == CHACHA20_OK);
        CHECK(chacha20_ctr_xor(&cha, text, (0 - n) % 64, out, 64) == CHACHA20_OK);
        CHECK(chacha20_ctr_xor(&cha, text, 1, out, 1) == CHACHA20_ENDS);
    }
}

static void lea(const char *target)
{
    static const uint8_t key[16] = {0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a, 0x69, 0x78, 0x87, 0x96, 0xa5, 0xb4, 0xc3, 0xd2, 0xe1, 0xf0};
    static const uint8_t made[16] = {0x9f, 0xc8, 0x4e, 0x35, 0x28, 0xc6, 0xc6, 0x18, 0x55, 0x32, 0xc7, 0xa7, 0x04, 0x64, 0x8b, 0xfd};
    static lea128_keys keys;
    CHECK(lea128_expand(&keys, target, key, 16) == LEA128_OK);
    size_t n = lea128_width(target) + 1;
    for (size_t i = 0; i < 16 * n; i++)
        out[i] = (uint8_t)(0x10 + i % 16);
    CHECK(lea128_blocks(&keys, out, 16 * n, out, 16 * n) == LEA128_OK);
    for (size_t i = 0; i < 16 * n; i++)
        CHECK(out[i] == made[i % 16]);
}

static void errors(const char *target)
{
    static aes128_keys keys, never;
    static aes128_ctr ctr;
    static chacha20_ctr cha;
    static uint8_t key[32], start[16];
    memset(out, 0xa5, 64);
    memset(&ctr, 0, sizeof ctr);
    CHECK(aes128_expand(&keys, target, key, 15) == AES128_LENGTH && aes128_expand(&keys, target, key, 0) == AES128_LENGTH);
    CHECK(aes128_expand(&keys, target, NULL, 16) == AES128_NULL && aes128_expand(NULL, target, key, 16) == AES128_NULL);
    CHECK(aes128_expand(&keys, "avx1024", key, 16) == AES128_TARGET && !aes128_has("avx1024") && !aes128_width("avx1024"));
    CHECK(aes128_blocks(&never, text, 16, out, 16) == AES128_TARGET);
    CHECK(aes128_expand(&keys, target, key, 16) == AES128_OK);
    CHECK(aes128_blocks(&keys, text, 15, out, 16) == AES128_LENGTH);
    CHECK(aes128_blocks(&keys, text, 32, out, 31) == AES128_LENGTH);
    CHECK(aes128_blocks(&keys, NULL, 16, out, 16) == AES128_NULL && aes128_blocks(&keys, text, 16, NULL, 16) == AES128_NULL);
    CHECK(aes128_blocks(&keys, out, 32, out + 16, 32) == AES128_OVERLAPS);
    CHECK(aes128_blocks(&keys, NULL, 0, NULL, 0) == AES128_OK);
    CHECK(aes128_ctr_xor(&ctr, &keys, text, 1, out, 1) == AES128_TARGET);
    CHECK(aes128_ctr_init(&ctr, &keys, start, 12) == AES128_LENGTH && aes128_ctr_init(&ctr, &keys, NULL, 16) == AES128_NULL);
    memset(start, 0xff, 16);
    CHECK(aes128_ctr_init(&ctr, &keys, start, 16) == AES128_OK);
    CHECK(aes128_ctr_xor(&ctr, &never, text, 1, out, 1) == AES128_TARGET);
    CHECK(aes128_ctr_xor(&ctr, &keys, text, 2, out, 1) == AES128_LENGTH);
    CHECK(aes128_ctr_xor(&ctr, &keys, NULL, 1, out, 1) == AES128_NULL);
    CHECK(aes128_ctr_xor(&ctr, &keys, out, 8, out + 1, 8) == AES128_OVERLAPS);
    CHECK(aes128_ctr_check(&ctr, 16) == AES128_OK && aes128_ctr_check(&ctr, 17) == AES128_ENDS);
    CHECK(aes128_ctr_xor(&ctr, &keys, text, 17, out, 17) == AES128_ENDS);
    for (int i = 0; i < 64; i++)
        CHECK(out[i] == 0xa5);
    CHECK(aes128_ctr_xor(&ctr, &keys, text, 15, out, 15) == AES128_OK);
    CHECK(aes128_ctr_check(&ctr, 1) == AES128_OK && aes128_ctr_check(&ctr, 2) == AES128_ENDS);
    CHECK(aes128_ctr_xor(&ctr, &keys, text, 1, out, 1) == AES128_OK && aes128_ctr_xor(&ctr, &keys, text, 1, out, 1) == AES128_ENDS);
    CHECK(aes128_ctr_xor(&ctr, &keys, NULL, 0, NULL, 0) == AES128_OK);
    /* Memory as malloc gives it. */
    static _Alignas(64) uint8_t place[64 + sizeof(aes128_keys) + sizeof(aes128_ctr)];
    aes128_keys *askew = (void *)(place + 16);
    aes128_ctr *askew_ctr = (void *)(place + 32);
    CHECK(aes128_expand(askew, target, key, 16) == AES128_ALIGNMENT);
    CHECK(aes128_blocks(askew, text, 16, out, 16) == AES128_ALIGNMENT);
    CHECK(aes128_ctr_init(askew_ctr, &keys, start, 16) == AES128_ALIGNMENT);
    CHECK(aes128_ctr_xor(askew_ctr, &keys, text, 1, out, 1) == AES128_ALIGNMENT);
    CHECK(aes128_ctr_xor(&ctr, askew, text, 1, out, 1) == AES128_ALIGNMENT && aes128_ctr_check(askew_ctr, 1) == AES128_ALIGNMENT);
    /* What is wiped is gone, and is as if never made. */
    aes128_wipe(&keys), aes128_wipe(NULL), aes128_ctr_wipe(&ctr), aes128_ctr_wipe(NULL);
    for (size_t i = 0; i < sizeof keys; i++)
        CHECK(((uint8_t *)&keys)[i] == 0);
    for (size_t i = 0; i < sizeof ctr; i++)
        CHECK(((uint8_t *)&ctr)[i] == 0);
    CHECK(aes128_blocks(&keys, text, 16, out, 16) == AES128_TARGET && aes128_ctr_xor(&ctr, &keys, text, 1, out, 1) == AES128_TARGET);
    CHECK(chacha20_ctr_init(&cha, target, key, 31, 0, start, 12) == CHACHA20_LENGTH);
    CHECK(chacha20_ctr_init(&cha, target, key, 32, 0, start, 8) == CHACHA20_LENGTH);
    CHECK(chacha20_ctr_init(&cha, target, key, 32, UINT32_MAX, start, 12) == CHACHA20_OK);
    CHECK(chacha20_ctr_xor(&cha, text, 65, out, 65) == CHACHA20_ENDS && chacha20_ctr_xor(&cha, text, 64, out, 64) == CHACHA20_OK);
}

int main(int argc, char **argv)
{
    const char *targets[] = {"x86-64", "sse", "avx2", "avx512", "neon", NULL};
    if (argc != 3)
        return 2;
    read_file(argv[1], aes);
    read_file(argv[2], chacha);
    for (size_t i = 0; i < N; i++)
        text[i] = (uint8_t)(i % 251);
    if (chacha20_has("avx512vl")) {
        streams_of_chacha("avx512vl");
        refused("avx512vl");
    }
    for (int t = 0; t < 6; t++) {
        static aes128_keys keys;
        const char *target = targets[t] ? targets[t] : aes128_best();
        if (!aes128_has(target)) {
            CHECK(aes128_expand(&keys, target, text, 16) == AES128_TARGET);
            continue;
        }
        streams(targets[t]);
        streams_of_chacha(targets[t]);
        refused(target);
        lea(targets[t]);
        errors(targets[t] ? targets[t] : target);
        printf("%s\n", target);
    }
    return 0;
}
