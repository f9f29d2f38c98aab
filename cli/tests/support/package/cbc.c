/* CBC decryption of a package, by cases from standard input: `open KEY IV TEXT -`, in hex. A line of
   output is the text, or the error. */
#include "cases.h"

/* What is refused before a byte is written. */
static void refusals(const char *target)
{
    static CALL(_keys) keys, unmade;
    uint8_t key[N_KEY] = {1}, iv[16] = {0}, in[48] = {0}, out[48] = {0}, same[48] = {0};
    expect(CALL(_expand)(&keys, target, key, N_KEY - 1) == 4, "a short key");
    expect(CALL(_expand)(&keys, target, NULL, N_KEY) == 3, "no key");
    expect(CALL(_expand)(&keys, "vax", key, N_KEY) == 5, "a target that is not here");
    expect(CALL(_decrypt)(&unmade, iv, 16, in, 48, out, 48) == 5, "keys that were not made");
    expect(CALL(_decrypt)(&unmade, iv, 16, in, 0, out, 0) == 5, "nor for nothing");
    expect(!CALL(_expand)(&keys, target, key, N_KEY), "a key");
    expect(CALL(_decrypt)(&keys, iv, 12, in, 48, out, 48) == 4, "a short iv");
    expect(CALL(_decrypt)(&keys, iv, 16, in, 47, out, 47) == 4, "a part of a block");
    expect(CALL(_decrypt)(&keys, iv, 16, in, 48, out, 32) == 4, "out too short");
    expect(CALL(_decrypt)(&keys, NULL, 16, in, 48, out, 48) == 3, "no iv");
    expect(CALL(_decrypt)(&keys, iv, 16, in, 48, NULL, 48) == 3, "nowhere to write");
    expect(CALL(_decrypt)(&keys, iv, 16, in, 32, in + 16, 32) == 2, "text that overlaps");
    expect(CALL(_decrypt)(&keys, in, 16, in, 32, in, 32) == 2, "an iv in the text");
    expect(!memcmp(out, same, 48), "nothing is written");
    CALL(_wipe)(&keys);
    expect(CALL(_decrypt)(&keys, iv, 16, in, 48, out, 48) == 5, "keys that were wiped");
}

int main(int argc, char **argv)
{
    static uint8_t given[4][MOST], out[MOST];
    static CALL(_keys) keys;
    const char *target = argc > 1 ? argv[1] : NULL;
    refusals(target);
    size_t n[4];
    while (next_case(4, given, n)) {
        int code = CALL(_expand)(&keys, target, given[0], n[0]);
        /* The first block elsewhere, the others in place. */
        size_t first = n[2] < 16 ? n[2] : 16;
        memcpy(out, given[2], n[2]);
        if (!code && n[2] > first)
            code = CALL(_decrypt)(&keys, given[2], 16, out + first, n[2] - first, out + first, n[2] - first);
        if (!code)
            code = CALL(_decrypt)(&keys, given[1], n[1], given[2], first, out, first);
        if (code)
            printf("error %d", code);
        else
            show(out, n[2]);
        puts("");
    }
}
