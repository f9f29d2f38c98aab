/* Cycles of one message of N bytes by a mode of a package and by OpenSSL, in turn: the least of
   some rounds of each, and OpenSSL's version. Built with MODE, what its names begin with, and
   HEADER; IS_STREAM for a bare stream, whose counter and nonce OpenSSL calls its nonce. */
#include HEADER
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define OF(name) JOIN(MODE, name)

enum { ROUNDS = 40, N_AD = 13, N_TAG = 16, SET_KEEP_TAG = 0x10 };
static const uint8_t key[32] = {1}, ad[N_AD] = {3};
/* A counter of 0 before it. */
static uint8_t nonce[16] = {0, 0, 0, 0, 2};
static uint8_t tag[N_TAG], other_tag[N_TAG];

static void ours(const char *target, const uint8_t *in, uint8_t *out, size_t n)
{
#ifdef IS_STREAM
    static MODE stream;
    int failed = OF(_init)(&stream, target, key, 32, 0, nonce + 4, 12);
    failed |= OF(_xor)(&stream, in, n, out, n);
    OF(_wipe)(&stream);
#else
    static OF(_keys) keys;
    static const char *made;
    int failed = made != target && OF(_expand)(&keys, target, key, 32);
    made = target;
    failed |= OF(_encrypt)(&keys, nonce + 4, 12, ad, N_AD, in, n, out, n, tag, N_TAG);
#endif
    if (failed)
        exit(2);
}

static void *library, *context;
static int (*start)(void *, const void *, void *, const uint8_t *, const uint8_t *);
static int (*update)(void *, uint8_t *, int *, const uint8_t *, int);
static int (*end)(void *, uint8_t *, int *);
static int (*control)(void *, int, int, void *);

static void *symbol(const char *name)
{
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return found;
}

static void theirs(const uint8_t *in, uint8_t *out, size_t n)
{
    int length;
#ifdef IS_STREAM
    start(context, NULL, NULL, NULL, nonce);
    update(context, out, &length, in, (int)n);
#else
    start(context, NULL, NULL, NULL, nonce + 4);
    update(context, NULL, &length, ad, N_AD);
    update(context, out, &length, in, (int)n);
    end(context, out + n, &length);
    control(context, SET_KEEP_TAG, N_TAG, other_tag);
#endif
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    const char *target = argv[1], *cipher = argv[2];
    size_t n = strtoul(argv[3], NULL, 10), calls = strtoul(argv[4], NULL, 10);
    library = dlopen("libcrypto.so.3", RTLD_NOW);
    void *(*new_context)(void) = (void *(*)(void))symbol("EVP_CIPHER_CTX_new");
    const void *(*find)(void) = (const void *(*)(void))symbol(cipher);
    const char *(*version)(int) = (const char *(*)(int))symbol("OpenSSL_version");
    start = (int (*)(void *, const void *, void *, const uint8_t *, const uint8_t *))symbol("EVP_EncryptInit_ex");
    update = (int (*)(void *, uint8_t *, int *, const uint8_t *, int))symbol("EVP_EncryptUpdate");
    end = (int (*)(void *, uint8_t *, int *))symbol("EVP_EncryptFinal_ex");
    control = (int (*)(void *, int, int, void *))symbol("EVP_CIPHER_CTX_ctrl");
    context = new_context();
    if (!start(context, find(), NULL, key, nonce))
        return 2;
    uint8_t *in = malloc(n + 64), *out = malloc(n + 64), *other = malloc(n + 64);
    memset(in, 1, n);
    unsigned long least[2] = {-1ul, -1ul};
    for (int round = 0; round < ROUNDS; round++) {
        unsigned core;
        unsigned long before = __rdtscp(&core);
        for (size_t k = 0; k < calls; k++) {
            nonce[5] = (uint8_t)k;
            ours(target, in, out, n);
        }
        unsigned long between = __rdtscp(&core);
        for (size_t k = 0; k < calls; k++) {
            nonce[5] = (uint8_t)k;
            theirs(in, other, n);
        }
        unsigned long after = __rdtscp(&core);
        least[0] = between - before < least[0] ? between - before : least[0];
        least[1] = after - between < least[1] ? after - between : least[1];
    }
    if (memcmp(out, other, n) || memcmp(tag, other_tag, N_TAG)) {
        fprintf(stderr, "%s gives other bytes\n", cipher);
        return 2;
    }
    printf("%.3f %.3f %s\n", (double)least[0] / calls, (double)least[1] / calls, version(0));
    return 0;
}
