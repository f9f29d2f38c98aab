//! The part of the tests' `main` that runs AEAD and hashes.

use super::arch::Shape;
use super::{Mode, Sponge};

impl Mode {
    /// `run_mode`, for tests: reads one message and writes the result of the mode; it also checks
    /// pieces, places, many messages at a time, forgeries and wrong calls. `run_open` decrypts
    /// messages of AEAD. `secret_mode`: the same calls on uninitialised memory.
    pub fn check(&self, shape: Shape) -> String {
        let text = match &self.sponge {
            Sponge::Aead => AEAD.to_string(),
            Sponge::Digest(digest) => {
                let finish = if digest.output.is_some() { HASH_FINISH } else { XOF_FINISH };
                digest.filled(&format!("{CALLS}{finish}{DIGEST}"), shape)
            }
        };
        self.named(&text)
    }
}

const AEAD: &str = "
static uint64_t mode_seed = 1;

static uint8_t any(void)
{
    mode_seed = mode_seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint8_t)(mode_seed >> 56);
}

static int is_zeros(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return 0;
    return 1;
}

/* Every message of a batch and of the next ones gives what it gives alone; every third is forged. */
static int many_messages(size_t n_ad, size_t n)
{
    enum { MANY = 2 * BLOCKS + 1 };
    static uint8_t keys[16 * MANY], nonces[16 * MANY], tags[16 * MANY], is_right[MANY], tag[16];
    uint8_t *ads = malloc(n_ad * MANY + 1), *in = malloc(n * MANY + 1), *out = malloc(n * MANY + 1), *one = malloc(n + 1);
    if (!ads || !in || !out || !one)
        return 1;
    for (size_t i = 0; i < sizeof keys; i++)
        keys[i] = any(), nonces[i] = any();
    for (size_t i = 0; i < n_ad * MANY; i++)
        ads[i] = any();
    for (size_t i = 0; i < n * MANY; i++)
        in[i] = any();
    if (NAME_encrypt_many(keys, nonces, ads, n_ad, in, out, n, tags, MANY) != UP_OK)
        return 11;
    for (size_t m = 0; m < MANY; m++) {
        NAME_encrypt(keys + 16 * m, nonces + 16 * m, ads + n_ad * m, n_ad, in + n * m, one, n, tag);
        if (memcmp(tag, tags + 16 * m, 16) || memcmp(one, out + n * m, n))
            return 12;
        if (m % 3 == 1)
            tags[16 * m + m % 16] ^= 4;
    }
    if (NAME_decrypt_many(keys, nonces, ads, n_ad, out, out, n, tags, is_right, MANY) != UP_FORGED)
        return 13;
    for (size_t m = 0; m < MANY; m++)
        if (is_right[m] != (m % 3 != 1) || (is_right[m] ? memcmp(out + n * m, in + n * m, n) != 0 : !is_zeros(out + n * m, n)))
            return 14;
    return 0;
}

/* Messages of different lengths give what they give alone; every third is forged. */
static int each_message(size_t n_ad, size_t n)
{
    enum { MANY = 2 * BLOCKS + 1 };
    static NAME_message messages[MANY];
    static uint8_t tags[16 * MANY], tag[16];
    uint8_t *all = malloc((n_ad + 32) * MANY + 1), *in = malloc(n * MANY + 1), *out = malloc(n * MANY + 1), *one = malloc(n + 1);
    if (!all || !in || !out || !one)
        return 1;
    for (size_t i = 0; i < (n_ad + 32) * MANY; i++)
        all[i] = any();
    for (size_t i = 0; i < n * MANY; i++)
        in[i] = any();
    for (size_t m = 0; m < MANY; m++) {
        const uint8_t *own = all + (n_ad + 32) * m;
        size_t less = n_ad ? any() % (n_ad + 1) : 0, shorter = n ? any() % (n + 1) : 0;
        messages[m] = (NAME_message){own, own + 16, own + 32, n_ad - less, in + n * m, out + n * m, n - shorter, tags + 16 * m, 0};
    }
    if (NAME_encrypt_each(messages, MANY) != UP_OK)
        return 15;
    for (size_t k = 0; k < MANY; k++) {
        NAME_message *m = &messages[k];
        NAME_encrypt(m->key, m->nonce, m->ad, m->n_ad, m->in, one, m->n, tag);
        if (memcmp(tag, m->tag, 16) || memcmp(one, m->out, m->n))
            return 16;
        if (k % 3 == 1)
            m->tag[k % 16] ^= 4;
        m->in = m->out;
    }
    if (NAME_decrypt_each(messages, MANY) != UP_FORGED)
        return 17;
    for (size_t k = 0; k < MANY; k++) {
        NAME_message *m = &messages[k];
        if (m->is_right != (k % 3 != 1) || (m->is_right ? memcmp(m->out, in + n * k, m->n) != 0 : !is_zeros(m->out, m->n)))
            return 18;
    }
    messages[1].n = 1, messages[1].in = NULL;
    if (NAME_encrypt_each(messages, 2) != UP_NULL || NAME_encrypt_each(NULL, 0) != UP_OK || NAME_decrypt_each(NULL, 1) != UP_NULL)
        return 19;
    return 0;
}

/* The message in pieces of up to 20 and 50 bytes, in place. */
static int in_pieces(const uint8_t *key, const uint8_t *nonce, const uint8_t *ad, size_t n_ad, const uint8_t *in, const uint8_t *out, size_t n,
    const uint8_t *tag)
{
    static NAME_state a;
    uint8_t *place = malloc(n + 1), made[16];
    for (int round = 0; place && round < 30; round++) {
        NAME_init(&a, key, nonce);
        for (size_t at = 0, k; at < n_ad; at += k) {
            k = any() % 20u;
            k = k < n_ad - at ? k : n_ad - at;
            if (NAME_aad(&a, ad + at, k) != UP_OK)
                return 20;
        }
        if (NAME_aad(&a, NULL, 1) != UP_NULL || NAME_aad(&a, NULL, 0) != UP_OK)
            return 21;
        memcpy(place, in, n);
        for (size_t at = 0, k; at < n; at += k) {
            k = any() % (round % 2 ? 20u : 50u);
            k = k < n - at ? k : n - at;
            if (NAME_update(&a, place + at, place + at, k) != UP_OK)
                return 22;
        }
        if (NAME_update(&a, NULL, NULL, 0) != UP_OK || NAME_update(&a, NULL, place, 1) != UP_NULL || NAME_aad(&a, ad, 1) != UP_ENDED
            || NAME_update(&a, place, place + 1, n > 1 ? 2 : 0) != (n > 1 ? UP_OVERLAPS : UP_OK))
            return 23;
        if (NAME_final(&a, NULL) != UP_NULL || NAME_final(&a, made) != UP_OK || memcmp(made, tag, 16) || memcmp(place, out, n))
            return 24;
        if (NAME_final(&a, made) != UP_ENDED || NAME_update(&a, place, place, 1) != UP_ENDED)
            return 25;
        NAME_wipe(&a);
        if (!is_zeros((const uint8_t *)&a, sizeof a))
            return 26;
    }
    free(place);
    return 0;
}

static int run_mode(void)
{
    uint64_t n_ad, n;
    static uint8_t key[16], nonce[16], tag[16], again[16];
    if (fread(&n_ad, 8, 1, stdin) != 1 || fread(&n, 8, 1, stdin) != 1 || fread(key, 1, 16, stdin) != 16 || fread(nonce, 1, 16, stdin) != 16)
        return 1;
    uint8_t *ad = malloc(n_ad + 1), *in = malloc(n + 1), *out = malloc(n + 1), *other = malloc(n + 32);
    if (!ad || !in || !out || !other || fread(ad, 1, n_ad, stdin) != n_ad || fread(in, 1, n, stdin) != n)
        return 1;
    if (NAME_encrypt(key, nonce, ad, n_ad, in, out, n, tag) != UP_OK)
        return 2;
    for (size_t shift = 0; shift < 8; shift++) {
        uint8_t *place = other + shift;
        memcpy(place, in, n);
        memset(place + n, 0xa5, 16);
        if (NAME_encrypt(key, nonce, ad, n_ad, place, place, n, again) != UP_OK || memcmp(again, tag, 16) || memcmp(place, out, n))
            return 3;
        if (NAME_decrypt(key, nonce, ad, n_ad, place, place, n, tag) != UP_OK || memcmp(place, in, n))
            return 4;
        for (int i = 0; i < 16; i++)
            if (place[n + i] != 0xa5)
                return 5;
    }
    /* One bit of anything is wrong. */
    uint8_t *parts[] = {tag, key, nonce, ad, out};
    size_t sizes[] = {16, 16, 16, n_ad, n};
    for (int part = 0; part < 5; part++)
        for (size_t bit = 0; bit < 8 * sizes[part]; bit += part == 0 ? 1 : 11) {
            parts[part][bit / 8] ^= 1 << bit % 8;
            memset(other, 0xa5, n);
            if (NAME_decrypt(key, nonce, ad, n_ad, out, other, n, tag) != UP_FORGED || !is_zeros(other, n))
                return 6;
            parts[part][bit / 8] ^= 1 << bit % 8;
        }
    if (n > 2
        && (NAME_encrypt(key, nonce, ad, n_ad, other, other + 1, n - 1, again) != UP_OVERLAPS
            || NAME_decrypt(key, nonce, ad, n_ad, other + 1, other, n - 1, tag) != UP_OVERLAPS))
        return 7;
    if (NAME_encrypt(key, nonce, NULL, 0, NULL, NULL, 0, again) != UP_OK || NAME_encrypt(key, nonce, NULL, 1, in, other, n, again) != UP_NULL
        || NAME_decrypt(key, nonce, ad, n_ad, NULL, other, 1, tag) != UP_NULL || NAME_encrypt(key, nonce, ad, n_ad, in, NULL, 1, again) != UP_NULL)
        return 8;
    int wrong = many_messages(n_ad, n);
    wrong = wrong ? wrong : each_message(n_ad, n);
    wrong = wrong ? wrong : in_pieces(key, nonce, ad, n_ad, in, out, n, tag);
    if (wrong)
        return wrong;
    return fwrite(out, 1, n, stdout) != n || fwrite(tag, 1, 16, stdout) != 16;
}

/* Messages with their tags until there are no more: for each a byte, 1 if it is authentic, and the text after decryption. */
static int run_open(void)
{
    uint64_t sizes[2];
    while (fread(sizes, 8, 2, stdin) == 2) {
        size_t n_ad = sizes[0], n = sizes[1];
        uint8_t *all = malloc(n_ad + n + 48), *out = malloc(n + 1);
        if (!all || !out || fread(all, 1, n_ad + n + 48, stdin) != n_ad + n + 48)
            return 1;
        const uint8_t *ad = all + 32, *text = ad + n_ad;
        out[0] = NAME_decrypt(all, all + 16, ad, n_ad, text, out + 1, n, text + n) == UP_OK;
        if (fwrite(out, 1, n + 1, stdout) != n + 1)
            return 1;
        free(all);
        free(out);
    }
    return 0;
}

static int secret_mode(void)
{
    enum { MANY = BLOCKS + 1, AD = 27, TEXT = 43 };
    uint8_t *p = malloc((16 * 3 + AD + 2 * TEXT + 1) * MANY);
    __asm__ volatile(\"\" : \"+r\"(p) :: \"memory\");
    if (!p)
        return 1;
    uint8_t *nonces = p + 16 * MANY, *tags = nonces + 16 * MANY, *ads = tags + 16 * MANY, *in = ads + AD * MANY, *out = in + TEXT * MANY;
    NAME_encrypt_many(p, nonces, ads, AD, in, out, TEXT, tags, MANY);
    int answer = NAME_decrypt_many(p, nonces, ads, AD, out, out, TEXT, tags, out + TEXT * MANY, MANY);
    NAME_message two[2] = {{p, nonces, ads, AD, in, out, TEXT, tags, 0}, {p, nonces, ads, 3, in, out + TEXT, 20, tags + 16, 0}};
    NAME_encrypt_each(two, 2);
    answer |= NAME_decrypt_each(two, 2);
    NAME_state a;
    NAME_init(&a, p, nonces);
    NAME_aad(&a, ads, AD);
    NAME_update(&a, in, out, 5);
    NAME_update(&a, in + 5, out + 5, TEXT - 5);
    NAME_final(&a, tags);
    __asm__ volatile(\"\" :: \"r\"(p), \"r\"(answer) : \"memory\");
    return 0;
}
";

const CALLS: &str = "
static void whole(const uint8_t *in, size_t n, uint8_t *out, size_t n_out)
{
    (void)n_out;
    NAME(in, n, out@GIVEN@);
}

static void several(const uint8_t *in, size_t n, uint8_t *out, size_t n_out, size_t n_messages)
{
    (void)n_out;
    NAME_many(in, n, out@GIVEN@, n_messages);
}

static void of_each(const uint8_t *const *in, const size_t *n, uint8_t *out, size_t n_out, size_t n_messages)
{
    (void)n_out;
    NAME_each(in, n, out@GIVEN@, n_messages);
}

static int more(NAME_state *h, const uint8_t *in, size_t n)
{
    return NAME_@MORE@(h, in, n);
}

static int finish_many(NAME_state *h, uint8_t *const *out, size_t n)
{
    (void)n;
    return NAME_@END@_many(h, out@GIVEN_SIZE@);
}
";

const HASH_FINISH: &str = "
static int finish(NAME_state *h, uint8_t *out, size_t n_out)
{
    (void)n_out;
    return NAME_final(h, NULL) != UP_NULL || NAME_final(h, out) != UP_OK || NAME_final(h, out) != UP_ENDED;
}
";

const XOF_FINISH: &str = "
/* In pieces of 0 to 18 bytes. */
static int finish(NAME_state *h, uint8_t *out, size_t n_out)
{
    for (size_t at = 0, k = 0; at < n_out; k = (k + 7) % 19) {
        size_t now = k < n_out - at ? k : n_out - at;
        if (NAME_squeeze(h, out + at, now) != UP_OK)
            return 1;
        at += now;
    }
    return NAME_squeeze(h, NULL, 1) != UP_NULL || NAME_squeeze(h, NULL, 0) != UP_OK;
}
";

const DIGEST: &str = "
/* Messages side by side in pieces give what they give alone. */
static int side_by_side(const uint8_t *in, size_t n, const uint8_t *wanted, size_t n_out, size_t n_messages)
{
    static NAME_state h;
    static const uint8_t *pieces[BLOCKS];
    static uint8_t *outs[BLOCKS];
    uint8_t *made = malloc(n_out * n_messages + 1);
    if (!made || NAME_init_many(&h, n_messages) != UP_OK)
        return 1;
    for (size_t m = 0; m < n_messages; m++)
        pieces[m] = in + n * m, outs[m] = made + n_out * m;
    for (size_t at = 0, k = 1; at < n; at += k, k = (5 * k + 3) % 97) {
        k = k < n - at ? k : n - at;
        if (NAME_@MORE@_many(&h, pieces, k) != UP_OK)
            return 2;
        for (size_t m = 0; m < n_messages; m++)
            pieces[m] += k;
    }
    pieces[n_messages - 1] = NULL;
    if (NAME_@MORE@_many(&h, pieces, 1) != UP_NULL || NAME_@MORE@_many(&h, NULL, 1) != UP_NULL
        || finish_many(&h, NULL, n_out > 0) != (n_out > 0 ? UP_NULL : UP_OK))
        return 3;
    if (n_messages > 1 && more(&h, in, 1) != (n_out > 0 ? UP_LENGTH : UP_ENDED))
        return 4;
    if (finish_many(&h, outs, n_out) != UP_OK || memcmp(made, wanted, n_out * n_messages))
        return 5;
    free(made);
    NAME_wipe(&h);
    if (NAME_@MORE@_many(&h, NULL, 0) != UP_LENGTH || finish_many(&h, outs, n_out) != UP_LENGTH)
        return 1;
    return NAME_init_many(&h, 0) != UP_LENGTH || NAME_init_many(&h, BLOCKS + 1) != UP_LENGTH;
}

static int run_mode(void)
{
    uint64_t n, n_out, state = 1;
    enum { MANY = 2 * BLOCKS + 1 };
    if (fread(&n, 8, 1, stdin) != 1 || fread(&n_out, 8, 1, stdin) != 1)
        return 1;
    uint8_t *in = malloc(n * MANY + 1), *out = malloc(n_out * (MANY + 1) + 1), *other = malloc(n_out * MANY + 1);
    static NAME_state h;
    if (!in || !out || !other || fread(in, 1, n, stdin) != n)
        return 1;
    whole(in, n, out, n_out);
    for (int round = 0; round < 40; round++) {
        NAME_init(&h);
        for (size_t at = 0; at < n;) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            size_t k = (state >> 33) % (round % 3 == 0 ? 4 : round % 3 == 1 ? 20 : 100) + (round % 2);
            k = k < n - at ? k : n - at;
            if (more(&h, in + at, k) != UP_OK)
                return 2;
            at += k;
        }
        if (more(&h, NULL, 0) != UP_OK || more(&h, NULL, 1) != UP_NULL)
            return 3;
        memset(other, 0, n_out);
        if (finish(&h, other, n_out))
            return 4;
        if (more(&h, in, 1) != UP_ENDED)
            return 5;
        if (memcmp(other, out, n_out))
            return 6;
        NAME_wipe(&h);
        for (size_t i = 0; i < sizeof h; i++)
            if (((const uint8_t *)&h)[i])
                return 7;
    }
    for (size_t i = n; i < n * MANY; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        in[i] = (uint8_t)(state >> 56);
    }
    several(in, n, other, n_out, MANY);
    for (size_t m = 0; m < MANY; m++) {
        whole(in + n * m, n, out + n_out, n_out);
        if (memcmp(other + n_out * m, out + n_out, n_out))
            return 8;
    }
    if (side_by_side(in, n, other, n_out, BLOCKS) || side_by_side(in, n, other, n_out, 1 + BLOCKS / 2))
        return 10;
    static const uint8_t *starts[MANY];
    static size_t lengths[MANY];
    for (size_t m = 0; m < MANY; m++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        starts[m] = in + n * m;
        lengths[m] = (state >> 33) % (n + 1);
    }
    of_each(starts, lengths, other, n_out, MANY);
    for (size_t m = 0; m < MANY; m++) {
        whole(starts[m], lengths[m], out + n_out, n_out);
        if (memcmp(other + n_out * m, out + n_out, n_out))
            return 9;
    }
    return fwrite(out, 1, n_out, stdout) != n_out;
}

static int secret_mode(void)
{
    enum { MANY = BLOCKS + 1, TEXT = 243, N = @RATE@ < 64 ? 64 : @RATE@ + 8 };
    uint8_t *in = malloc(TEXT * MANY), *out = malloc(N * MANY);
    __asm__ volatile(\"\" : \"+r\"(in) :: \"memory\");
    if (!in || !out)
        return 1;
    several(in, TEXT, out, N, MANY);
    const uint8_t *starts[2] = {in, in + 7};
    of_each(starts, (const size_t[]){TEXT, 12}, out, N, 2);
    static NAME_state h;
    NAME_init(&h);
    more(&h, in, 5);
    more(&h, in + 5, TEXT - 5);
    finish(&h, out, N);
    uint8_t *const outs[2] = {out, out + N};
    NAME_init_many(&h, BLOCKS > 1 ? 2 : 1);
    NAME_@MORE@_many(&h, starts, 12);
    finish_many(&h, outs, N);
    __asm__ volatile(\"\" :: \"r\"(out) : \"memory\");
    return 0;
}
";
