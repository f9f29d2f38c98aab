/* CMAC of a package, by cases from standard input: `seal KEY TEXT - -` or `open KEY TEXT TAG -`, in hex.
   A line of output is the tag or `right`, or the error. */
#include "cases.h"

/* What is refused before a byte is written. */
static void refusals(const char *target)
{
    static CALL(_keys) keys, unmade;
    uint8_t key[N_KEY] = {1}, text[48] = {0}, tag[16] = {0}, same[16] = {0};
    expect(CALL(_expand)(&keys, target, key, N_KEY - 1) == 4, "a short key");
    expect(CALL(_expand)(&keys, "vax", key, N_KEY) == 5, "a target that is not here");
    expect(CALL(_tag)(&unmade, text, 48, tag, 16) == 5, "keys that were not made");
    expect(CALL(_verify)(&unmade, text, 48, tag, 16) == 5, "nor to verify");
    expect(!CALL(_expand)(&keys, target, key, N_KEY), "a key");
    expect(CALL(_tag)(&keys, text, 48, tag, 7) == 4, "a short tag");
    expect(CALL(_tag)(&keys, text, 48, tag, 17) == 4, "a long tag");
    expect(CALL(_tag)(&keys, text, 48, NULL, 16) == 3, "no tag");
    expect(CALL(_tag)(&keys, NULL, 1, tag, 16) == 3, "no text");
    expect(CALL(_tag)(&keys, text, 48, text + 40, 8) == 2, "a tag in the text");
    expect(!memcmp(tag, same, 16), "nothing is written");
    expect(CALL(_verify)(&keys, text, 48, tag, 16) == 1, "a forgery");
    expect(!CALL(_tag)(&keys, NULL, 0, tag, 16), "no text at all");
    expect(!CALL(_verify)(&keys, NULL, 0, tag, 8), "half a tag");
    CALL(_wipe)(&keys);
    expect(CALL(_tag)(&keys, text, 48, tag, 16) == 5, "keys that were wiped");
}

int main(int argc, char **argv)
{
    static uint8_t given[4][MOST], tag[16];
    static CALL(_keys) keys;
    const char *target = argc > 1 ? argv[1] : NULL;
    refusals(target);
    size_t n[4];
    for (const char *verb; (verb = next_case(4, given, n));) {
        int is_seal = !strcmp(verb, "seal");
        int code = CALL(_expand)(&keys, target, given[0], n[0]);
        if (!code)
            code = is_seal ? CALL(_tag)(&keys, given[1], n[1], tag, 16)
                           : CALL(_verify)(&keys, given[1], n[1], given[2], n[2]);
        if (code)
            printf("error %d", code);
        else if (is_seal)
            show(tag, 16);
        else
            printf("right");
        puts("");
    }
}
