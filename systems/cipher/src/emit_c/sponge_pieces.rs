//! Ascon-AEAD128 in pieces, and for many messages of different lengths: the C text.

/// A message among others of different lengths. Packages have it too.
pub const MESSAGE: &str = "
/* A message and its lengths. */
typedef struct {
    const uint8_t *key, *nonce; /* 16 bytes each */
    const uint8_t *ad;
    size_t n_ad;
    const uint8_t *in;
    uint8_t *out; /* in, or memory that no other message uses */
    size_t n;
    uint8_t *tag; /* 16 bytes: encryption writes them, decryption reads them */
    int is_right; /* set by decryption */
} NAME_message;
";

/// The types and prototypes of AEAD in pieces and of messages of different lengths.
pub const AEAD_TYPES: &str = "
/* The same for messages of any lengths. BATCH at a time take as long as the longest of them: group them by length. */
int NAME_encrypt_each(const NAME_message *messages, size_t n_messages);

int NAME_decrypt_each(NAME_message *messages, size_t n_messages);

/* A message that is encrypted in pieces: associated data first, then text. Only the functions below use its
   members. There is no decryption in pieces: it would release text before its tag is verified.
   Decrypt whole messages; cut what is too long for that into messages with nonces and tags of their own. */
typedef struct {
    STATE
    uint8_t key[16];
    uint8_t rest[16];
    size_t n_rest;
    int stage;
} __attribute__((aligned(64))) NAME_state;

void NAME_init(NAME_state *a, const uint8_t key[16], const uint8_t nonce[16]);

/* The next n bytes of associated data: any n. */
int NAME_aad(NAME_state *a, const uint8_t *ad, size_t n);

/* Encrypts the next n bytes of text: any n, in place if out is in. */
int NAME_update(NAME_state *a, const uint8_t *in, uint8_t *out, size_t n);

/* The tag of the message; wipes the state. */
int NAME_final(NAME_state *a, uint8_t tag[16]);

/* Wipes a state that is no longer needed. */
void NAME_wipe(NAME_state *a);
";

/// Messages of different lengths: each slice takes its own blocks, and the state of a message that
/// has ended is saved.
pub const AEAD_EACH: &str = "
/* How far each message of a batch is. */
typedef struct {
    uint8_t keys[16 * BLOCKS], nonces[16 * BLOCKS];
    uint8_t rate[2][8 * BLOCKS], blocks[2][8 * BLOCKS], ends[5][8 * BLOCKS];
    size_t at[BLOCKS];
    enum { AD, TEXT, END } stage[BLOCKS];
} places;

/* The next block of one message, padded if it is the last of its associated data or text; true if the message has ended. */
static int next_block(const NAME_message *m, places *p, size_t b, int *text_begins, int decrypts)
{
    uint8_t block[16] = {0};
    size_t at = p->at[b], left = (p->stage[b] == AD ? m->n_ad : m->n) - at, now = left < 16 ? left : 16;
    if (p->stage[b] == AD) {
        if (now > 0)
            memcpy(block, m->ad + at, now);
    } else {
        const uint8_t *in = m->in;
        uint8_t *out = m->out;
        for (size_t i = 0; i < now; i++) {
            uint8_t read = in[at + i], sum = read ^ p->rate[i / 8][8 * b + i % 8];
            out[at + i] = sum;
            block[i] = decrypts ? sum : read;
        }
    }
    p->at[b] += now;
    int is_last = now < 16, ends = is_last && p->stage[b] == TEXT;
    if (is_last)
        block[now] = 1;
    if (is_last && p->stage[b] == AD) {
        p->stage[b] = TEXT;
        p->at[b] = 0;
        *text_begins = 1;
    }
    memcpy(p->blocks[0] + 8 * b, block, 8);
    memcpy(p->blocks[1] + 8 * b, block + 8, 8);
    wipe(block, sizeof block);
    return ends;
}

/* Marks the beginning of text in the messages that have reached it. */
static void begin_text(sponge *x, const uint8_t *begins, size_t now)
{
    memset(x->bytes, 0, sizeof x->bytes);
    for (size_t b = 0; b < now; b++)
        x->bytes[8 * b + 7] = begins[b] ? 0x80 : 0;
    load_word(x->t, x->bytes);
    add(x->s + 4 * WORD, x->t, WORD);
}

/* At most a batch of messages; their tags are written one after another. */
static void NAME_each(const NAME_message *m, uint8_t *tags, size_t now, int decrypts)
{
    sponge x;
    places p;
    reg key[2 * WORD];
    uint8_t begins[BLOCKS];
    if (BLOCKS == 1)
        now = 1;
    memset(&p, 0, sizeof p);
    for (size_t b = 0; b < now; b++) {
        memcpy(p.keys + 16 * b, m[b].key, 16);
        memcpy(p.nonces + 16 * b, m[b].nonce, 16);
        begins[b] = m[b].n_ad == 0;
        p.stage[b] = begins[b] ? TEXT : AD;
    }
    begin(&x, key, p.keys, p.nonces, now);
    begin_text(&x, begins, now);
    for (size_t left = now;;) {
        int some_begin = 0, some_end = 0;
        uint8_t ends[BLOCKS];
        for (int w = 0; w < 2; w++)
            give(&x, x.s + w * WORD, p.rate[w], 8, 8, now);
        for (size_t b = 0; b < now; b++) {
            int text_begins = 0;
            ends[b] = p.stage[b] != END && next_block(&m[b], &p, b, &text_begins, decrypts);
            begins[b] = (uint8_t)text_begins;
            some_begin |= text_begins;
            some_end |= ends[b];
        }
        for (int w = 0; w < 2; w++)
            load_word(x.t + w * WORD, p.blocks[w]);
        add(x.s, x.t, 2 * WORD);
        for (int w = 0; some_end && w < 5; w++) {
            memcpy(x.t, x.s + w * WORD, WORD * sizeof *x.t);
            store_word(x.t, x.bytes);
            for (size_t b = 0; b < now; b++)
                if (ends[b])
                    memcpy(p.ends[w] + 8 * b, x.bytes + 8 * b, 8);
        }
        for (size_t b = 0; b < now; b++)
            if (ends[b]) {
                p.stage[b] = END;
                left--;
            }
        if (left == 0)
            break;
        permute8(&x);
        if (some_begin)
            begin_text(&x, begins, now);
    }
    for (int w = 0; w < 5; w++)
        load_word(x.s + w * WORD, p.ends[w]);
    end(&x, key, tags, now);
    wipe(&x, sizeof x);
    wipe(&p, sizeof p);
    wipe(key, sizeof key);
}

/* What is wrong with these messages, or UP_OK. */
static int each_wrong(const NAME_message *messages, size_t n_messages)
{
    if (!messages)
        return n_messages == 0 ? UP_OK : UP_NULL;
    for (size_t k = 0; k < n_messages; k++) {
        const NAME_message *m = &messages[k];
        int wrong = m->key && m->nonce && m->tag ? NAME_wrong(m->ad, m->n_ad, m->in, m->out, m->n, 1) : UP_NULL;
        if (wrong)
            return wrong;
    }
    return UP_OK;
}

int NAME_encrypt_each(const NAME_message *messages, size_t n_messages)
{
    int wrong = each_wrong(messages, n_messages);
    uint8_t tags[16 * BLOCKS];
    for (size_t k = 0; !wrong && k < n_messages; k += BLOCKS) {
        size_t now = n_messages - k < BLOCKS ? n_messages - k : BLOCKS;
        NAME_each(messages + k, tags, now, 0);
        for (size_t b = 0; b < now; b++)
            memcpy(messages[k + b].tag, tags + 16 * b, 16);
    }
    return wrong;
}

int NAME_decrypt_each(NAME_message *messages, size_t n_messages)
{
    int wrong = each_wrong(messages, n_messages);
    unsigned forged = 0;
    uint8_t tags[16 * BLOCKS];
    for (size_t k = 0; !wrong && k < n_messages; k += BLOCKS) {
        size_t now = n_messages - k < BLOCKS ? n_messages - k : BLOCKS;
        NAME_each(messages + k, tags, now, 1);
        for (size_t b = 0; b < now; b++) {
            NAME_message *m = &messages[k + b];
            unsigned differs = judge(tags + 16 * b, m->tag, m->out, m->n);
            m->is_right = 1 - (int)differs;
            forged |= differs;
        }
    }
    wipe(tags, sizeof tags);
    return wrong ? wrong : (int)forged;
}
";

/// AEAD in pieces, in one slice.
pub const AEAD_PIECES: &str = "
enum { NAME_AD_NONE, NAME_AD, NAME_TEXT, NAME_ENDED };

void NAME_init(NAME_state *a, const uint8_t key[16], const uint8_t nonce[16])
{
    reg words[2 * WORD];
    memset(a, 0, sizeof *a);
    begin(&a->x, words, key, nonce, 1);
    memcpy(a->key, key, 16);
    wipe(words, sizeof words);
}

int NAME_aad(NAME_state *a, const uint8_t *ad, size_t n)
{
    if (a->stage > NAME_AD)
        return UP_ENDED;
    if (n == 0)
        return UP_OK;
    if (!ad)
        return UP_NULL;
    a->stage = NAME_AD;
    while (n > 0) {
        size_t room = 16 - a->n_rest, now = n < room ? n : room;
        memcpy(a->rest + a->n_rest, ad, now);
        a->n_rest += now;
        ad += now;
        n -= now;
        if (a->n_rest == 16) {
            take(&a->x, a->x.t, a->rest, 0, 1);
            take(&a->x, a->x.t + WORD, a->rest + 8, 0, 1);
            add(a->x.s, a->x.t, 2 * WORD);
            permute8(&a->x);
            a->n_rest = 0;
        }
    }
    return UP_OK;
}

/* Ends the associated data, if there was any. */
static void NAME_begin_text(NAME_state *a)
{
    sponge *x = &a->x;
    if (a->stage == NAME_AD) {
        size_t n = a->n_rest;
        if (n >= 8)
            take(x, x->t, a->rest, 0, 1);
        take_last(x, x->t + n / 8 * WORD, a->rest + n / 8 * 8, n % 8, 0, 1);
        add(x->s, x->t, (1 + (int)n / 8) * WORD);
        permute8(x);
    }
    set_word(x->t, UINT64_C(1) << 63);
    add(x->s + 4 * WORD, x->t, WORD);
    a->n_rest = 0;
    a->stage = NAME_TEXT;
}

int NAME_update(NAME_state *a, const uint8_t *in, uint8_t *out, size_t n)
{
    sponge *x = &a->x;
    if (a->stage == NAME_ENDED)
        return UP_ENDED;
    int wrong = NAME_wrong(NULL, 0, in, out, n, 1);
    if (wrong)
        return wrong;
    if (a->stage != NAME_TEXT)
        NAME_begin_text(a);
    while (n > 0) {
        if (a->n_rest == 0 && n >= 16) {
            size_t left = crypt_blocks(x, in, out, 0, n, 1, 0);
            in += n - left;
            out += n - left;
            n = left;
            continue;
        }
        /* In a block that is not full rest has the bytes encrypted so far, then key stream. */
        for (int w = 0; a->n_rest == 0 && w < 2; w++)
            give(x, x->s + w * WORD, a->rest + 8 * w, 8, 0, 1);
        size_t room = 16 - a->n_rest, now = n < room ? n : room;
        for (size_t i = 0; i < now; i++)
            out[i] = a->rest[a->n_rest + i] ^= in[i];
        a->n_rest += now;
        in += now;
        out += now;
        n -= now;
        if (a->n_rest == 16) {
            take(x, x->s, a->rest, 0, 1);
            take(x, x->s + WORD, a->rest + 8, 0, 1);
            permute8(x);
            a->n_rest = 0;
        }
    }
    return UP_OK;
}

int NAME_final(NAME_state *a, uint8_t tag[16])
{
    sponge *x = &a->x;
    if (a->stage == NAME_ENDED)
        return UP_ENDED;
    if (!tag)
        return UP_NULL;
    if (a->stage != NAME_TEXT)
        NAME_begin_text(a);
    for (int w = 0; a->n_rest == 0 && w < 2; w++)
        give(x, x->s + w * WORD, a->rest + 8 * w, 8, 0, 1);
    a->rest[a->n_rest] ^= 1;
    take(x, x->s, a->rest, 0, 1);
    take(x, x->s + WORD, a->rest + 8, 0, 1);
    reg key[2 * WORD];
    take(x, key, a->key, 0, 1);
    take(x, key + WORD, a->key + 8, 0, 1);
    end(x, key, tag, 1);
    wipe(key, sizeof key);
    wipe(a, sizeof *a);
    a->stage = NAME_ENDED;
    return UP_OK;
}

void NAME_wipe(NAME_state *a)
{
    wipe(a, sizeof *a);
}
";
