/* XTS of a package, by cases from standard input: `seal KEY TWEAK TEXT -` or `open` with a
   ciphertext, in hex. A line of output is the result, or the error. */
#include "cases.h"

/* What is refused before a byte is written. */
static void refusals(const char *target)
{
    static CALL(_keys) keys, unmade;
    uint8_t key[N_KEY], tweak[16] = {0}, in[48] = {0}, out[48] = {0}, same[48] = {0};
    memset(key, 7, sizeof key);
    expect(CALL(_expand)(&keys, target, key, N_KEY) == 8, "equal halves");
    key[0] = 6;
    expect(CALL(_expand)(&keys, target, key, N_KEY / 2) == 4, "half a key");
    expect(CALL(_expand)(&keys, target, NULL, N_KEY) == 3, "no key");
    expect(CALL(_expand)(&keys, "vax", key, N_KEY) == 5, "a target that is not here");
    expect(CALL(_encrypt)(&unmade, tweak, 16, in, 48, out, 48) == 5, "keys that were not made");
    expect(!CALL(_expand)(&keys, target, key, N_KEY), "a key");
    expect(CALL(_encrypt)(&keys, tweak, 15, in, 48, out, 48) == 4, "a short tweak");
    expect(CALL(_encrypt)(&keys, tweak, 16, in, 15, out, 15) == 4, "less than a block");
    expect(CALL(_encrypt)(&keys, tweak, 16, in, (1 << 24) + 1, out, (1 << 24) + 1) == 4,
        "a sector beyond the limit");
    expect(CALL(_encrypt)(&keys, tweak, 16, in, 48, out, 47) == 4, "out too short");
    expect(CALL(_decrypt)(&keys, tweak, 16, in, 48, NULL, 48) == 3, "nowhere to write");
    expect(CALL(_decrypt)(&keys, tweak, 16, in, 32, in + 16, 32) == 2, "text that overlaps");
    expect(!memcmp(out, same, 48), "nothing is written");
}

int main(int argc, char **argv)
{
    static uint8_t given[4][MOST], out[MOST];
    static CALL(_keys) keys;
    const char *target = argc > 1 ? argv[1] : NULL;
    refusals(target);
    size_t n[4];
    for (const char *verb; (verb = next_case(4, given, n));) {
        int is_seal = !strcmp(verb, "seal");
        int code = CALL(_expand)(&keys, target, given[0], n[0]);
        /* Encrypted elsewhere, decrypted in place. */
        if (!code && is_seal)
            code = CALL(_encrypt)(&keys, given[1], n[1], given[2], n[2], out, n[2]);
        else if (!code) {
            memcpy(out, given[2], n[2]);
            code = CALL(_decrypt)(&keys, given[1], n[1], out, n[2], out, n[2]);
        }
        if (code)
            printf("error %d", code);
        else
            show(out, n[2]);
        puts("");
    }
}
