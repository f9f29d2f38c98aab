/* An authenticated mode MODE of a package, by cases from standard input: `seal KEY NONCE AD TEXT
   TAG` and `open` with a ciphertext, in hex, `-` for nothing. A line of output is the result, or
   the error. */
#include "cases.h"

/* The same message in place and in pieces of many sizes. */
static void in_pieces(const CALL(_keys) *keys, const uint8_t *nonce, size_t n_nonce,
    const uint8_t *ad, size_t n_ad, const uint8_t *text, size_t n, const uint8_t *expected,
    const uint8_t *expected_tag)
{
#ifdef PIECES
    static CALL(_state) state;
    static uint8_t out[MOST];
    uint8_t tag[16];
    memcpy(out, text, n);
    expect(!CALL(_init)(&state, keys, nonce, n_nonce), "init");
    for (size_t at = 0, now = 0; at < n_ad; at += now, now = now * 3 + 1) {
        now = now < n_ad - at ? now : n_ad - at;
        expect(!CALL(_aad)(&state, keys, ad + at, now), "aad");
    }
    for (size_t at = 0, now = 0; at < n; at += now, now = now * 2 + 1) {
        now = now < n - at ? now : n - at;
        expect(!CALL(_update)(&state, keys, out + at, now, out + at, now), "update");
        expect(CALL(_aad)(&state, keys, ad, 0) == 7, "associated data after text");
    }
    expect(!CALL(_final)(&state, keys, tag, 16) && CALL(_final)(&state, keys, tag, 16) == 7,
        "final");
    expect(!memcmp(out, expected, n) && !memcmp(tag, expected_tag, 16), "pieces differ");
    CALL(_state_wipe)(&state);
#else
    (void)keys, (void)nonce, (void)n_nonce, (void)ad, (void)n_ad, (void)text, (void)n,
        (void)expected, (void)expected_tag;
#endif
}

/* Keys that were wiped, or made for another target, are never taken for those
 * of a message. */
static void other_keys(const char *target) {
#ifdef PIECES
  static CALL(_state) state;
  static CALL(_keys) keys, others;
  uint8_t key[64] = {1}, nonce[24] = {2}, text[40] = {3}, right[40], out[40],
          tag[16];
  expect(!CALL(_expand)(&keys, target, key, N_KEY), "a key");
  expect(!CALL(_encrypt)(&keys, nonce, N_NONCE, NULL, 0, text, 40, right, 40,
                         tag, 16),
         "a text");
  for (int round = 0; round < 2; round++) {
    expect(!CALL(_expand)(&keys, target, key, N_KEY), "a key");
    expect(!CALL(_expand)(&others, "x86-64", key, N_KEY),
           "the same key elsewhere");
    expect(!CALL(_init)(&state, &keys, nonce, N_NONCE), "init");
    if (round == 0)
      CALL(_wipe)(&others);
    memcpy(out, text, 40);
    int code = CALL(_update)(&state, &others, out, 40, out, 40);
    if (round == 0) {
      expect(code == 5 && CALL(_aad)(&state, &others, text, 4) == 5,
             "wiped keys");
      expect(CALL(_final)(&state, &others, tag, 16) == 5,
             "a tag with wiped keys");
    } else if (code) {
      for (int i = 0; i < 40; i++)
        expect(out[i] == 0, "text that was not encrypted");
      expect(CALL(_final)(&state, &keys, tag, 16) == 5,
             "a tag of a message that ended");
    } else {
      expect(!memcmp(out, right, 40), "another text");
    }
  }
#else
  (void)target;
#endif
}

/* The tag may lie where nonce or text were. */
static void tag_over_inputs(const char *target) {
  static CALL(_keys) keys;
  uint8_t key[64] = {1}, nonce[24] = {2}, in[48] = {3}, out[48], right[48],
          tag[16];
  expect(!CALL(_expand)(&keys, target, key, N_KEY), "a key");
  expect(!CALL(_encrypt)(&keys, nonce, N_NONCE, NULL, 0, in, 48, right, 48, tag,
                         16),
         "a text");
  uint8_t own[24];
  memcpy(own, nonce, 24);
  expect(
      !CALL(_encrypt)(&keys, own, N_NONCE, NULL, 0, in, 48, out, 48, own, 16),
      "over nonce");
  expect(!memcmp(out, right, 48) && !memcmp(own, tag, 16),
         "the tag over the nonce");
  expect(!CALL(_encrypt)(&keys, nonce, N_NONCE, NULL, 0, in, 48, out, 48,
                         in + 16, 16),
         "in text");
  expect(!memcmp(out, right, 48) && !memcmp(in + 16, tag, 16),
         "the tag over the text");
}

/* What is refused before a byte is written. */
static void refusals(const char *target)
{
    static CALL(_keys) keys, unmade;
    uint8_t key[64] = {0}, nonce[24] = {0}, in[48] = {0}, out[48] = {0}, tag[16] = {9},
        same[48] = {0};
    size_t n_nonce = N_NONCE;
    expect(CALL(_expand)(&keys, "vax", key, N_KEY) == 5, "a target that is not here");
    expect(CALL(_expand)(&keys, target, key, N_KEY - 1) == 4, "a short key");
    expect(CALL(_expand)(&keys, target, NULL, N_KEY) == 3, "no key");
    expect(CALL(_expand)(NULL, target, key, N_KEY) == 3, "no keys");
    expect(CALL(_expand)((CALL(_keys) *)((uint8_t *)&keys + 8), target, key, N_KEY) == 6,
        "keys in a wrong place");
    expect(CALL(_encrypt)(&unmade, nonce, n_nonce, NULL, 0, in, 48, out, 48, tag, 16) == 5,
        "keys that were not made");
    expect(!CALL(_expand)(&keys, target, key, N_KEY), "a key");
    expect(CALL(_encrypt)(&keys, nonce, 0, NULL, 0, in, 48, out, 48, tag, 16) == 4, "no nonce");
    expect(CALL(_encrypt)(&keys, NULL, n_nonce, NULL, 0, in, 48, out, 48, tag, 16) == 3,
        "a nonce of NULL");
    expect(CALL(_encrypt)(&keys, nonce, n_nonce, NULL, 1, in, 48, out, 48, tag, 16) == 3,
        "associated data of NULL");
    expect(CALL(_encrypt)(&keys, nonce, n_nonce, NULL, 0, in, 48, out, 47, tag, 16) == 4,
        "out too short");
    expect(CALL(_encrypt)(&keys, nonce, n_nonce, NULL, 0, in, 48, out, 48, tag, 15) == 4,
        "a short tag");
    expect(CALL(_encrypt)(&keys, nonce, n_nonce, NULL, 0, in, 32, in + 16, 32, tag, 16) == 2,
        "text that overlaps");
    expect(CALL(_encrypt)(&keys, nonce, n_nonce, NULL, 0, in, 48, out, 48, out + 40, 16) == 2,
        "a tag in the text");
    expect(CALL(_encrypt)(&keys, nonce, n_nonce, out, 9, in, 48, out, 48, tag, 16) == 2,
        "associated data in the text");
    size_t long_size = (size_t)((UINT64_C(1) << 38) + 1);
    expect(CALL(_encrypt)(&keys, nonce, n_nonce, NULL, 0, in, long_size, in, long_size, tag,
        16) == 4, "a text beyond the limit");
    expect(CALL(_decrypt)(&keys, nonce, n_nonce, NULL, 0, in, 48, NULL, 48, tag, 16) == 3,
        "nowhere to write");
    expect(!memcmp(out, same, 48) && tag[0] == 9, "nothing is written");
    CALL(_wipe)(&keys);
    for (size_t i = 0; i < sizeof keys; i++)
        expect(((uint8_t *)&keys)[i] == 0, "keys are wiped");
}

int main(int argc, char **argv)
{
    static uint8_t given[5][MOST], out[MOST], tag[16];
    static CALL(_keys) keys;
    const char *target = argc > 1 ? argv[1] : NULL;
    refusals(target);
    other_keys(target);
    tag_over_inputs(target);
    size_t n[5];
    for (const char *verb; (verb = next_case(5, given, n));) {
        int is_seal = !strcmp(verb, "seal");
        int code = CALL(_expand)(&keys, target, given[0], n[0]);
        if (!code && is_seal) {
            code = CALL(_encrypt)(&keys, given[1], n[1], given[2], n[2], given[3], n[3], out,
                n[3], tag, 16);
            if (!code)
                in_pieces(&keys, given[1], n[1], given[2], n[2], given[3], n[3], out, tag);
        } else if (!code) {
            memcpy(out, given[3], n[3]);
            code = CALL(_decrypt)(&keys, given[1], n[1], given[2], n[2], out, n[3], out, n[3],
                given[4], n[4]);
            for (size_t i = 0; i < n[3] && code == 1; i++)
                expect(out[i] == 0, "text of a forgery");
        }
        if (code)
            printf("error %d", code);
        else
            show(out, n[3]), show(tag, is_seal ? 16 : 0);
        puts("");
    }
}
