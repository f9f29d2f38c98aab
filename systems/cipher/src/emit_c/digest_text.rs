//! Hashes and functions with output of any length: the C text, with what differs between them in
//! `@..@`.

/// Return values, state and prototypes.
pub const TYPES: &str = "/* @TITLE@: what a call returns. */
enum {
    UP_OK = 0,
    UP_ENDED = 2, /* output was taken already, which ended the message */
    UP_NULL = 3,  /* in or out is NULL and n is not 0 */
    UP_LENGTH = 4 /* in pieces: no message, more than a batch has, or one of several */
};

/* @WHAT@ of a message of n bytes. */
void NAME(const uint8_t *in, size_t n, @ONE_OUT@);

/* The same for messages of one length, one after another, as are their outputs. BATCH at a time is fastest. The messages of a
 * batch are read before its outputs are written: no output may lie in a message of a later one. */
void NAME_many(const uint8_t *in, size_t n, @OUTS@, size_t n_messages);

/* The same for messages of any lengths. BATCH at a time take as long as the longest of them: group them by length. */
void NAME_each(const uint8_t *const *in, const size_t *n, @OUTS@, size_t n_messages);

/* A message in pieces, or up to BATCH side by side. Only the functions below use its members. */
typedef struct {
    STATE
    uint8_t rest[@REST@];
    uint64_t total;
    size_t n_rest, n_messages;
@WITH@    size_t n_out; /* bytes of a digest */
    int is_squeezing;
} __attribute__((aligned(64))) NAME_state;

void NAME_init(NAME_state *h);

/* The next n bytes of the message: any n. */
int NAME_@MORE@(NAME_state *h, const uint8_t *in, size_t n);
@END_TYPES@
/* Wipes a state that is no longer needed. */
void NAME_wipe(NAME_state *h);

/* Several messages of one length side by side: pieces of one length, and a place for the output of each. */
int NAME_init_many(NAME_state *h, size_t n_messages);

int NAME_@MORE@_many(NAME_state *h, const uint8_t *const *in, size_t n);

int NAME_@END@_many(NAME_state *h, uint8_t *const *out@SIZE@);
";

pub const HASH_TYPES: &str = "
/* The digest of the message; wipes the state. */
int NAME_final(NAME_state *h, uint8_t @FINAL_OUT@);
";

/// Parameters of a hash whose first state holds them.
pub const WITH_TYPES: &str = "
/* Starts messages with BLAKE2's parameters: digests of n_out bytes, 1 to @N_OUT@, which _final gives; a key of at most @N_OUT@
   bytes; a salt and a personalisation of @N_SALT@ bytes each, or NULL. */
int NAME_init_with(NAME_state *h, size_t n_messages, size_t n_out, const uint8_t *key, size_t n_key, const uint8_t *salt,
    const uint8_t *personal);
";

/// The same words as all messages have, in the state; a key is a block of its own, and the last one
/// of a message without bytes.
pub const WITH: &str = "
int NAME_init_with(NAME_state *h, size_t n_messages, size_t n_out, const uint8_t *key, size_t n_key, const uint8_t *salt,
    const uint8_t *personal)
{
    uint8_t block[RATE] = {0};
    if (n_out == 0 || n_out > @N_OUT@ || n_key > @N_OUT@)
        return UP_LENGTH;
    if (is_null(key, key, n_key))
        return UP_NULL;
    int code = NAME_init_many(h, n_messages);
    if (code)
        return code;
    /* What differs from the parameters of a digest of @N_OUT@ bytes without a key. */
    block[0] = (uint8_t)(n_out ^ @N_OUT@);
    block[1] = (uint8_t)n_key;
    if (salt)
        memcpy(block + STATE / 2 * BYTES, salt, @N_SALT@);
    if (personal)
        memcpy(block + STATE / 4 * 3 * BYTES, personal, @N_SALT@);
    for (int w = 0; w < STATE; w++) {
        take(&h->x, h->x.t, block + BYTES * w, 0, n_messages);
        add(h->x.s + w * WORD, h->x.t, WORD);
    }
    h->n_out = n_out;
    if (n_key == 0)
        return UP_OK;
    memset(block, 0, sizeof block);
    memcpy(block, key, n_key);
    for (size_t b = 0; b < n_messages; b++)
        memcpy(h->rest + RATE * b, block, RATE);
    h->n_rest = RATE;
    h->total = RATE;
    wipe(block, sizeof block);
    return UP_OK;
}
";

pub const XOF_TYPES: &str = "
/* The next n bytes of output: any n. The first call ends the message. */
int NAME_squeeze(NAME_state *h, uint8_t *out, size_t n);
";

/// How a sponge takes a block into its state.
pub const ADD_BLOCK: &str = "        take(x, x->t, in + BYTES * w, stride, now);
        add(x->s + w * WORD, x->t, WORD);
";

/// How a compression function takes it, behind its state.
pub const TAKE_BLOCK: &str =
    "        take(x, x->s + (STATE + w) * WORD, in + BYTES * w, stride, now);
";

/// What is taken beside a block.
pub const BESIDE: &str = "
/* Words that are taken beside a block. */
enum { BESIDE = @N_BESIDE@ };

/* Word w of them: total bytes of the message are taken with this block. */
static inline uint64_t beside(int w, uint64_t total, int is_last)
{
@BESIDE_VALUES@}

/* Those of messages of one length. */
static inline void tell(sponge *x, uint64_t total, int is_last)
{
    for (int w = 0; w < BESIDE; w++)
        set_word(x->s + (STATE + RATE / BYTES + w) * WORD, beside(w, total, is_last));
}

/* Those of messages of different lengths. */
static void tell_each(sponge *x, const uint64_t *totals, const uint8_t *ends, size_t now)
{
    for (int w = 0; w < BESIDE; w++) {
        for (size_t b = 0; b < now; b++) {
            uint64_t word = beside(w, totals[b], ends[b]);
            for (int i = 0; i < BYTES; i++)
                x->bytes[BYTES * b + @PLACE@] = (uint8_t)(word >> 8 * i);
        }
        load_word(x->s + (STATE + RATE / BYTES + w) * WORD, x->bytes);
    }
}
";

/// The first state, blocks, the last blocks, and output, on the registers of a batch.
pub const ABSORB: &str = "
/* Words of the state, bytes of a block, of the blocks that may end a message, and of output between two permutations. */
enum { STATE = @STATE_WORDS@, RATE = @RATE@, LAST = @LAST@, OUT = @OUT@ };
@BESIDE_TEXT@
/* Bytes of a message of n bytes before its last blocks. */
static inline size_t before_last(size_t n)
{
    return @BEFORE_LAST@;
}

static void start(sponge *x)
{
    memset(x, 0, sizeof *x);
@INITIAL@}

/* A block of each message. */
static void absorb(sponge *x, const uint8_t *in, size_t stride, size_t now)
{
    for (int w = 0; w < RATE / BYTES; w++) {
@ABSORB@    }
    permute(x);
}

/* The last blocks of a message of total bytes, whose last n bytes, @SIZE_OF_LAST@, are at in; returns how many they are. */
static size_t ending(uint8_t *last, const uint8_t *in, size_t n, uint64_t total)
{
    memset(last, 0, LAST);
    if (n > 0)
        memcpy(last, in, n);
@ENDING@}

/* The next n_out bytes of each output, of which the first OUT are ready. */
static void squeeze(sponge *x, uint8_t *out, size_t n_out, size_t stride, size_t now)
{
    for (size_t left = n_out;; left -= OUT, out += OUT) {
        size_t size = left < OUT ? left : OUT, w = 0;
        for (; BYTES * (w + 1) <= size; w++)
            give(x, x->s + w * WORD, out + BYTES * w, BYTES, stride, now);
        if (size % BYTES > 0)
            give(x, x->s + w * WORD, out + BYTES * w, size % BYTES, stride, now);
        if (left <= OUT)
            break;
        permute(x);
    }
}
";

/// Messages of one length.
pub const BATCH: &str = "
static void batch(const uint8_t *in, size_t n, uint8_t *out, size_t n_out, size_t now)
{
    sponge x;
    uint8_t last[LAST * BLOCKS];
    size_t whole = before_last(n), n_last = 0;
    if (BLOCKS == 1)
        now = 1; /* so that compilers see no loop over messages */
    start(&x);
    for (size_t at = 0; at < whole; at += RATE) {
@BESIDE@        tell(&x, at + RATE, 0);
        absorb(&x, in + at, n, now);
    }
    for (size_t b = 0; b < now; b++)
        n_last = ending(last + LAST * b, n > whole ? in + n * b + whole : NULL, n - whole, n);
@BESIDE@    tell(&x, n, 1);
    for (size_t k = 0; k < n_last; k++)
        absorb(&x, last + RATE * k, LAST, now);
    squeeze(&x, out, n_out, n_out, now);
    wipe(last, sizeof last);
    wipe(&x, sizeof x);
}
";

/// Messages of different lengths: each slice takes its own blocks, and the state of a message that
/// has ended is kept aside.
pub const EACH: &str = "
/* The state of the messages that end with this block. */
static void keep(sponge *x, uint8_t (*states)[BYTES * BLOCKS], const uint8_t *ends, size_t now)
{
    for (int w = 0; w < STATE; w++) {
        memcpy(x->t, x->s + w * WORD, WORD * sizeof *x->t);
        store_word(x->t, x->bytes);
        for (size_t b = 0; b < now; b++)
            if (ends[b])
                memcpy(states[w] + BYTES * b, x->bytes + BYTES * b, BYTES);
    }
}

static void each(const uint8_t *const *in, const size_t *n, uint8_t *out, size_t n_out, size_t now)
{
    sponge x;
    uint8_t states[STATE][BYTES * BLOCKS], block[RATE * BLOCKS], last[LAST * BLOCKS], ends[BLOCKS];
@BESIDE@    uint64_t totals[BLOCKS];
    size_t n_blocks[BLOCKS], most = 0, ended = 0;
    if (BLOCKS == 1)
        now = 1;
    memset(states, 0, sizeof states);
    for (size_t b = 0; b < now; b++) {
        size_t whole = before_last(n[b]);
        n_blocks[b] = whole / RATE + ending(last + LAST * b, n[b] > whole ? in[b] + whole : NULL, n[b] - whole, n[b]);
        most = n_blocks[b] < most ? most : n_blocks[b];
    }
    start(&x);
    for (size_t k = 0; k < most; k++) {
        size_t before = ended;
        for (size_t b = 0; b < now; b++) {
            size_t whole = before_last(n[b]) / RATE;
            if (k < n_blocks[b])
                memcpy(block + RATE * b, k < whole ? in[b] + RATE * k : last + LAST * b + RATE * (k - whole), RATE);
            ends[b] = k + 1 == n_blocks[b];
            ended += ends[b];
@BESIDE@            totals[b] = ends[b] ? n[b] : RATE * (k + 1);
        }
@BESIDE@        tell_each(&x, totals, ends, now);
        absorb(&x, block, RATE, now);
        if (before < ended && (before > 0 || ended < now))
            keep(&x, states, ends, now);
        if (before > 0 && ended == now)
            for (int w = 0; w < STATE; w++)
                load_word(x.s + w * WORD, states[w]);
    }
    squeeze(&x, out, n_out, n_out, now);
    wipe(states, sizeof states);
    wipe(block, sizeof block);
    wipe(last, sizeof last);
    wipe(&x, sizeof x);
}
";

/// Messages in pieces, side by side in one batch.
pub const PIECES: &str = "
int NAME_init_many(NAME_state *h, size_t n_messages)
{
    if (n_messages == 0 || n_messages > BLOCKS)
        return UP_LENGTH;
    memset(h, 0, sizeof *h);
    start(&h->x);
    h->n_messages = n_messages;
@WITH@    h->n_out = @N_OUT@;
    return UP_OK;
}

/* True if one of several messages is NULL, which no bytes are. */
static int is_null(const void *all, const void *first, size_t n)
{
    return n > 0 && (!all || !first);
}

int NAME_@MORE@_many(NAME_state *h, const uint8_t *const *in, size_t n)
{
    if (h->is_squeezing)
        return UP_ENDED;
    if (h->n_messages == 0)
        return UP_LENGTH;
    for (size_t b = 0; b < h->n_messages; b++)
        if (is_null(in, in ? in[b] : NULL, n))
            return UP_NULL;
    h->total += n;
    for (size_t at = 0; at < n;) {
        size_t room = RATE - h->n_rest, now = n - at < room ? n - at : room;
        if (h->n_messages == 1 && now == RATE@GOES_ON@) {
@BESIDE@            tell(&h->x, h->total - n + at + RATE, 0);
            absorb(&h->x, in[0] + at, 0, 1);
            at += RATE;
            continue;
        }
        for (size_t b = 0; b < h->n_messages; b++)
            memcpy(h->rest + RATE * b + h->n_rest, in[b] + at, now);
        h->n_rest += now;
        at += now;
        if (h->n_rest == RATE@HAS_MORE@) {
@BESIDE@            tell(&h->x, h->total - n + at, 0);
            absorb(&h->x, h->rest, RATE, h->n_messages);
            h->n_rest = 0;
        }
    }
    return UP_OK;
}

/* Ends the messages. While output is taken, the last n_rest bytes of OUT in rest are still to be given. */
static void end_messages(NAME_state *h)
{
    uint8_t last[LAST * BLOCKS];
    size_t n_last = 0;
    for (size_t b = 0; b < h->n_messages; b++)
        n_last = ending(last + LAST * b, h->rest + RATE * b, h->n_rest, h->total);
@BESIDE@    tell(&h->x, h->total, 1);
    for (size_t k = 0; k < n_last; k++)
        absorb(&h->x, last + RATE * k, LAST, h->n_messages);
    squeeze(&h->x, h->rest, OUT, OUT, h->n_messages);
    h->n_rest = OUT;
    h->is_squeezing = 1;
    wipe(last, sizeof last);
}

static int take_pieces(NAME_state *h, uint8_t *const *out, size_t n)
{
    if (h->n_messages == 0)
        return UP_LENGTH;
    for (size_t b = 0; b < h->n_messages; b++)
        if (is_null(out, out ? out[b] : NULL, n))
            return UP_NULL;
    if (!h->is_squeezing)
        end_messages(h);
    for (size_t at = 0; at < n;) {
        if (h->n_rest == 0) {
            permute(&h->x);
            squeeze(&h->x, h->rest, OUT, OUT, h->n_messages);
            h->n_rest = OUT;
        }
        size_t now = n - at < h->n_rest ? n - at : h->n_rest;
        for (size_t b = 0; b < h->n_messages; b++)
            memcpy(out[b] + at, h->rest + OUT * b + OUT - h->n_rest, now);
        h->n_rest -= now;
        at += now;
    }
    return UP_OK;
}

/* True if the one message is one of several. */
static int is_several(const NAME_state *h)
{
    return !h->is_squeezing && h->n_messages != 1;
}

void NAME_init(NAME_state *h)
{
    (void)NAME_init_many(h, 1);
}

int NAME_@MORE@(NAME_state *h, const uint8_t *in, size_t n)
{
    return is_several(h) ? UP_LENGTH : NAME_@MORE@_many(h, &in, n);
}

void NAME_wipe(NAME_state *h)
{
    wipe(h, sizeof *h);
}
";

pub const HASH_END: &str = "
int NAME_final_many(NAME_state *h, uint8_t *const *out)
{
    if (h->is_squeezing)
        return UP_ENDED;
    int code = take_pieces(h, out, @TAKEN@);
    if (!code) {
        wipe(h, sizeof *h);
        h->is_squeezing = 1;
    }
    return code;
}

int NAME_final(NAME_state *h, uint8_t @FINAL_OUT@)
{
    return is_several(h) ? UP_LENGTH : NAME_final_many(h, &out);
}
";

pub const XOF_END: &str = "
int NAME_squeeze_many(NAME_state *h, uint8_t *const *out, size_t n)
{
    return take_pieces(h, out, n);
}

int NAME_squeeze(NAME_state *h, uint8_t *out, size_t n)
{
    return h->n_messages != 1 ? UP_LENGTH : NAME_squeeze_many(h, &out, n);
}
";

/// Calls for whole messages.
pub const CALLS: &str = "
void NAME_many(const uint8_t *in, size_t n, @OUTS@, size_t n_messages)
{
    for (size_t m = 0; m < n_messages; m += BLOCKS)
        batch(n > 0 ? in + n * m : in, n, @OUT_AT@, @N_OUT@, n_messages - m < BLOCKS ? n_messages - m : BLOCKS);
}

void NAME_each(const uint8_t *const *in, const size_t *n, @OUTS@, size_t n_messages)
{
    for (size_t m = 0; m < n_messages; m += BLOCKS)
        each(in + m, n + m, @OUT_AT@, @N_OUT@, n_messages - m < BLOCKS ? n_messages - m : BLOCKS);
}

void NAME(const uint8_t *in, size_t n, @ONE_OUT@)
{
    batch(in, n, out, @N_OUT@, 1);
}
";
