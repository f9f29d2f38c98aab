//! Modes over a sliced permutation or compression function, one message a slice: Ascon-AEAD128, and
//! [`Digest`].
//!
//! The state stays in slices from the first block of a message to its tag or digest. Each word of a
//! message is loaded and stored by the moves of one field. Calls for a single message are those for
//! many with one message; streams use one slice.
//!
//! **Source** NIST SP 800-232, 2025.

use std::fmt::Write;

use crate::options::Slicing;
use crate::unit::c_prefix;

use super::Mode;
use super::arch::Shape;
use super::bytes;
use super::digest::Digest;
use super::field::Field;
use super::message_word::MessageWord;
use super::network::Helpers;
use super::sponge_pieces::{self, AEAD_EACH, AEAD_PIECES, MESSAGE};
use super::sponge_single;

/// A mode over a permutation or compression function: Ascon-AEAD128, or a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sponge {
    Aead,
    Digest(Digest),
}

impl Sponge {
    /// As on the command line.
    pub fn mode(&self) -> &str {
        match self {
            Sponge::Aead => "aead",
            Sponge::Digest(digest) => &digest.mode,
        }
    }

    /// The standard's name in lower case, that of the file of vectors.
    pub fn name(&self) -> &str {
        match self {
            Sponge::Aead => "ascon-aead128",
            Sponge::Digest(digest) => &digest.name,
        }
    }

    /// The standard's name, and the standard.
    pub fn title(&self) -> &str {
        match self {
            Sponge::Aead => "Ascon-AEAD128 of NIST SP 800-232",
            Sponge::Digest(digest) => &digest.title,
        }
    }

    /// The prefix of its C functions, without the user's.
    pub fn prefix(&self) -> String {
        c_prefix(self.name()).replace('-', "_")
    }

    /// True if the first state has words that are not zeros.
    fn sets_words(&self) -> bool {
        match self {
            Sponge::Aead => true,
            Sponge::Digest(digest) => digest.sets_words(),
        }
    }

    /// A hash whose first state holds parameters.
    pub fn has_parameters(&self) -> bool {
        matches!(self, Sponge::Digest(digest) if digest.has_parameters)
    }

    /// The words of the input of its node, and of the state.
    pub fn words(&self) -> (usize, usize) {
        match self {
            Sponge::Aead => (5, 5),
            Sponge::Digest(digest) => digest.words(),
        }
    }

    pub fn word(&self) -> MessageWord {
        match self {
            Sponge::Aead => MessageWord { bits: 64, is_big_endian: false },
            Sponge::Digest(digest) => digest.word,
        }
    }

    /// A word of each message of a batch.
    fn field(&self, name: &str) -> Field {
        let word = self.word();
        Field { name: name.into(), layout: word.layout(), n_words: 1, word_bits: word.bits }
    }

    /// Registers that hold a word of all messages: of each batch in turn.
    fn registers_of_a_word(&self, shape: Shape) -> usize {
        self.field("word").n_registers(shape) * shape.interleave as usize
    }

    /// Bytes of the state that all batches work on, in C.
    fn bytes(&self, shape: Shape) -> usize {
        let register = shape.register_bits() as usize / 8;
        let (n_input, n_state) = self.words();
        let n_words = (n_input + n_state) * if shape.interleave > 1 { 2 } else { 1 };
        let word = self.word().n_bytes();
        (n_words * self.registers_of_a_word(shape) * register).next_multiple_of(64)
            + (word * shape.blocks() as usize).next_multiple_of(64)
    }
}

impl Mode {
    /// Bytes of the state of a message in pieces: its words, and a bound of the other members.
    pub fn state_bytes(&self, shape: Shape) -> usize {
        let rest = match &self.sponge {
            Sponge::Aead => 0,
            Sponge::Digest(digest) => digest.rest_bytes(shape).next_multiple_of(64),
        };
        self.sponge.bytes(shape) + rest + 64
    }

    /// Return values, state and prototypes: for the C file, where the state has its members, and
    /// for the header, where it is an array of words of the same size.
    pub fn declarations(&self, shape: Shape, is_header: bool) -> String {
        let text = match &self.sponge {
            Sponge::Aead => format!("{AEAD_TYPES}{MESSAGE}{}", sponge_pieces::AEAD_TYPES),
            Sponge::Digest(digest) => digest.types(shape),
        };
        let state = if is_header {
            format!("    uint64_t words[{}];", self.sponge.bytes(shape) / 8)
        } else {
            "    sponge x;".into()
        };
        let text = text.replace("    STATE", &state);
        self.named(&text.replace("BATCH", &shape.blocks().to_string()))
    }

    /// The text with the names of this mode; the lower case first, since a prefix in upper
    /// case may contain NAME.
    pub(super) fn named(&self, text: &str) -> String {
        text.replace("NAME", &self.name).replace("UP_", &format!("{}_", self.name.to_uppercase()))
    }

    /// AEAD for whole messages, with the state in registers if a register is one
    /// word of one message.
    fn aead(shape: Shape, long: &str, short: &str) -> String {
        let (blocks, batch) = if shape.blocks() == 1 && shape.slicing == Slicing::Vertical {
            (sponge_single::CRYPT_BLOCKS, sponge_single::BATCH)
        } else {
            (CRYPT_BLOCKS, BATCH_OF_MESSAGES)
        };
        AEAD.replace("CRYPT_BLOCKS", blocks)
            .replace("BATCH_OF_MESSAGES", batch)
            .replace("LONG", long)
            .replace("SHORT", short)
            .replace("INITIAL", INITIAL)
    }

    /// The functions; `long` and `short` are the C names of the node and, for AEAD, of the
    /// permutation with 8 rounds.
    pub fn functions(&self, shape: Shape, long: &str, short: &str) -> String {
        let words = self.sponge.words();
        let word = self.sponge.word();
        let is_of_words = shape.slicing == Slicing::Vertical && shape.is_vector();
        let of_words = |text: &str| {
            let text = if is_of_words { text } else { "" };
            text.replace("ORDERED", &word.ordered(shape, "word"))
        };
        let adds = words.0 == words.1 || self.sponge.has_parameters();
        let mut out = format!(
            "
/* Registers of a word of {} bits, and its bytes. */
enum {{ WORD = {}, BYTES = {} }};
{}",
            word.bits,
            self.sponge.registers_of_a_word(shape),
            word.n_bytes(),
            SPONGE
                .replace("BATCHES", if shape.interleave > 1 { BATCHES } else { "" })
                .replace("ADD", if adds { ADD } else { "" })
                .replace("INPUT", &words.0.to_string())
                .replace("STATE", &words.1.to_string())
                .replace("TAKE_ALL", &of_words(TAKE_ALL))
                .replace("GIVE_ALL", &of_words(GIVE_ALL))
        );
        let permutations: &[(&str, &str)] = match self.sponge {
            Sponge::Aead => &[("permute12", long), ("permute8", short)],
            Sponge::Digest(_) => &[("permute", long)],
        };
        for (name, node) in permutations {
            out += &permute(name, node, shape.interleave, words);
        }
        out += "\n";
        out += &self.declarations(shape, false);
        out + &self.named(&match &self.sponge {
            Sponge::Aead => Mode::aead(shape, long, short) + AEAD_EACH + AEAD_PIECES,
            Sponge::Digest(digest) => digest.functions(shape),
        })
    }
}

/// The text of messages `stride` bytes apart: words, whole blocks, and the rest.
const CRYPT_BLOCKS: &str = "
/* A whole word of text. */
static inline void crypt_word(sponge *x, reg *s, const uint8_t *in, uint8_t *out, size_t stride, size_t now, int decrypts)
{
    reg *read = x->t + WORD, *sum = x->t + 2 * WORD;
    take(x, read, in, stride, now);
    for (int i = 0; i < WORD; i++) {
        sum[i] = s[i] ^ read[i];
        s[i] = decrypts ? read[i] : sum[i];
    }
    give(x, sum, out, 8, stride, now);
}

/* Whole blocks of text; returns how many bytes are left. */
static inline size_t crypt_blocks(sponge *x, const uint8_t *in, uint8_t *out, size_t stride, size_t left, size_t now, int decrypts)
{
    for (; left >= 16; in += 16, out += 16, left -= 16) {
        crypt_word(x, x->s, in, out, stride, now, decrypts);
        crypt_word(x, x->s + WORD, in + 8, out + 8, stride, now, decrypts);
        permute8(x);
    }
    return left;
}

/* The last bytes of text, less than a word, and the padding. */
static inline void crypt_last(sponge *x, reg *s, const uint8_t *in, uint8_t *out, size_t size, size_t stride, size_t now, int decrypts)
{
    memcpy(x->t, s, WORD * sizeof *s);
    store_word(x->t, x->bytes);
    for (size_t b = 0; b < now; b++) {
        uint8_t *p = x->bytes + 8 * b;
        for (size_t i = 0; i < size; i++) {
            uint8_t read = in[stride * b + i], sum = read ^ p[i];
            out[stride * b + i] = sum;
            p[i] = decrypts ? sum : read;
        }
        memset(p + size, 0, 8 - size);
        p[size] = 1;
    }
    load_word(x->t, x->bytes);
    add(s, x->t, WORD);
}
";

/// The function that applies the node to every message. Between its calls all batches of a word are
/// adjacent; the node for several batches takes all words of a batch.
fn permute(name: &str, node: &str, n_batches: u32, (n_input, n_state): (usize, usize)) -> String {
    let body = match n_batches {
        1 => format!("    {node}(x->s, x->t);\n    memcpy(x->s, x->t, sizeof x->t);\n"),
        n => {
            let batch = |name: &str, n_words: usize| {
                let all = (0..n).map(|k| format!("x->{name} + {k} * ({n_words} * WORD / {n})"));
                all.collect::<Vec<_>>().join(", ")
            };
            let copy = |to: &str, from: &str, n_words: usize| {
                let memcpy = format!("memcpy(x->{to}, x->{from}, WORD / {n} * sizeof(reg));");
                format!(
                    "    for (int k = 0; k < {n}; k++)\n        for (int w = 0; w < {n_words}; w++)\n            {memcpy}\n"
                )
            };
            let all = format!("s + w * WORD + k * (WORD / {n})");
            let own = |name: &str, n_words: usize| {
                format!("{name} + k * ({n_words} * WORD / {n}) + w * (WORD / {n})")
            };
            let before = copy(&own("u", n_input), &all, n_input);
            let after = copy(&all, &own("v", n_state), n_state);
            let (ins, outs) = (batch("u", n_input), batch("v", n_state));
            format!("{before}    {node}({ins}, {outs});\n{after}")
        }
    };
    format!("\nstatic inline void {name}(sponge *x)\n{{\n{body}}}\n")
}

/// `load_word`, `store_word`, and `set_word` where the first state is not zeros.
pub fn moves(sponge: &Sponge, shape: Shape, helpers: &mut Helpers) -> String {
    let n = shape.interleave;
    let name = if n == 1 { "word" } else { "batch" };
    let (field, of_batch) = (sponge.field(name), Shape { interleave: 1, ..shape });
    // Full batches of words that are lanes are taken one by one, in their order.
    let order: Option<Vec<u32>> =
        (shape.slicing == Slicing::Vertical).then(|| (0..of_batch.slices().ilog2()).collect());
    let own = std::slice::from_ref(&field);
    let mut moves = bytes::blocks(&field, own, of_batch, false, order.as_deref(), helpers);
    assert_eq!(
        (moves.loads.len(), moves.stores.len()),
        (1, 1),
        "words have a network in every shape"
    );
    let (registers, n_bytes) = (field.n_registers(of_batch), field.layout.n_bytes);
    let set = match shape.slicing {
        Slicing::Vertical => {
            format!("    for (int k = 0; k < {n}; k++)\n        r[k] = SPLAT(x);\n")
        }
        Slicing::Bit | Slicing::Horizontal => {
            if sponge.sets_words() {
                moves.text.push_str(&bytes::spread(&field, of_batch));
            }
            let bits = field.word_bits;
            let ordered = sponge.word().ordered(shape, "word");
            format!(
                "    uint{bits}_t word = (uint{bits}_t)x, bytes = {ordered};
    for (int k = 0; k < {n}; k++)
        spread_{name}(r + {registers} * k, (const uint8_t *)&bytes);
"
            )
        }
    };
    if n > 1 {
        for (what, bytes) in [("load", "const uint8_t *bytes"), ("store", "uint8_t *bytes")] {
            let _ = write!(
                moves.text,
                "\n/* A word of every message: batch after batch. */\nstatic inline void {what}_word(reg *r, {bytes})\n{{\n    for (int k = 0; k < {n}; k++)\n        {what}_batch(r + {registers} * k, bytes + {n_bytes} * SLICES * k);\n}}\n"
            );
        }
    }
    if sponge.sets_words() {
        let _ = write!(
            moves.text,
            "\n/* The same word of every message. */\nstatic inline void set_word(reg *r, uint64_t x)\n{{\n{set}}}\n"
        );
    }
    moves.text
}

/// Only permutations, and parameters, are added to a state.
const ADD: &str = "static inline void add(reg *r, const reg *t, int n)
{
    for (int i = 0; i < n; i++)
        r[i] ^= t[i];
}

";

/// More members of the sponge if there are several batches.
const BATCHES: &str =
    "    reg u[INPUT * WORD], v[STATE * WORD]; /* the same, all words of a batch side by side */
";

/// The first word of the state of Ascon-AEAD128.
const INITIAL: &str = "0x00001000808c0001";

/// For a full batch where an element is a word: a register loaded from words that were just stored
/// one by one would wait, as store forwarding fails.
const TAKE_ALL: &str = "    if (now == BLOCKS) {
        for (size_t k = 0; k < WORD; k++)
            for (size_t b = 0; b < SLICES; b++) {
                lane word;
                memcpy(&word, in + stride * (SLICES * k + b), sizeof word);
                r[k][b] = ORDERED;
            }
        return;
    }
";

/// The same for a word that is written.
const GIVE_ALL: &str = "    if (now == BLOCKS && size == BYTES) {
        for (size_t k = 0; k < WORD; k++)
            for (size_t b = 0; b < SLICES; b++) {
                lane word = r[k][b], bytes = ORDERED;
                memcpy(out + stride * (SLICES * k + b), &bytes, sizeof bytes);
            }
        return;
    }
";

/// The functions that all modes use.
const SPONGE: &str = "
/* One message in each slice; only the first now slices are in use. */
typedef struct {
    reg s[INPUT * WORD] __attribute__((aligned(64))); /* the state, and what is taken with it */
    reg t[STATE * WORD];                              /* the next state */
BATCHES    uint8_t bytes[BYTES * BLOCKS] __attribute__((aligned(64)));
} sponge;

ADD/* The next word of each message. */
static inline void take(sponge *x, reg *r, const uint8_t *in, size_t stride, size_t now)
{
TAKE_ALL    for (size_t b = 0; b < now; b++)
        memcpy(x->bytes + BYTES * b, in + stride * b, BYTES);
    load_word(r, x->bytes);
}

/* Writes some bytes of a word of each message. */
static inline void give(sponge *x, const reg *r, uint8_t *out, size_t size, size_t stride, size_t now)
{
GIVE_ALL    memcpy(x->t, r, WORD * sizeof *r);
    store_word(x->t, x->bytes);
    for (size_t b = 0; b < now; b++)
        memcpy(out + stride * b, x->bytes + BYTES * b, size);
}
";

const AEAD_TYPES: &str = "/* Ascon-AEAD128, NIST SP 800-232: what a call returns. */
enum {
    UP_OK = 0,
    UP_FORGED = 1,   /* a tag is wrong: the text of that message is zeros */
    UP_OVERLAPS = 2, /* in and out overlap and are not the same: nothing is written */
    UP_NULL = 3,     /* a pointer is NULL and its length is not 0: nothing is written */
    UP_ENDED = 4     /* in pieces: associated data after text, or anything after the tag */
};

/* Encrypts n bytes, in place if out is in, and makes the tag of them and of n_ad bytes of associated data. Never use a nonce
   twice with one key. */
int NAME_encrypt(const uint8_t key[16], const uint8_t nonce[16], const uint8_t *ad, size_t n_ad, const uint8_t *in, uint8_t *out, size_t n,
    uint8_t tag[16]);

/* Decrypts them. The tag is compared in constant time. */
int NAME_decrypt(const uint8_t key[16], const uint8_t nonce[16], const uint8_t *ad, size_t n_ad, const uint8_t *in, uint8_t *out, size_t n,
    const uint8_t tag[16]);

/* The same for messages of one length, n, with associated data of one length, n_ad: keys is an array of their keys, nonces one
   of their nonces, and so on. BATCH at a time is fastest. */
int NAME_encrypt_many(const uint8_t *keys, const uint8_t *nonces, const uint8_t *ads, size_t n_ad, const uint8_t *in, uint8_t *out, size_t n,
    uint8_t *tags, size_t n_messages);

/* is_right, unless NULL, is set to 1 for each authentic message and to 0 for each other one. */
int NAME_decrypt_many(const uint8_t *keys, const uint8_t *nonces, const uint8_t *ads, size_t n_ad, const uint8_t *in, uint8_t *out, size_t n,
    const uint8_t *tags, uint8_t *is_right, size_t n_messages);
";

/// A batch of messages.
const BATCH_OF_MESSAGES: &str = "/* At most a batch of messages; their tags are written. */
static void NAME_batch(const uint8_t *keys, const uint8_t *nonces, const uint8_t *ads, size_t n_ad, const uint8_t *in, uint8_t *out, size_t n,
    uint8_t *tags, size_t now, int decrypts)
{
    sponge x;
    reg key[2 * WORD];
    if (BLOCKS == 1)
        now = 1; /* so that compilers see no loop over messages */
    begin(&x, key, keys, nonces, now);
    if (n_ad > 0) {
        size_t left = n_ad;
        for (; left >= 16; ads += 16, left -= 16) {
            take(&x, x.t, ads, n_ad, now);
            take(&x, x.t + WORD, ads + 8, n_ad, now);
            add(x.s, x.t, 2 * WORD);
            permute8(&x);
        }
        if (left >= 8)
            take(&x, x.t, ads, n_ad, now);
        take_last(&x, x.t + left / 8 * WORD, ads + left / 8 * 8, left % 8, n_ad, now);
        add(x.s, x.t, (1 + (int)left / 8) * WORD);
        permute8(&x);
    }
    set_word(x.t, UINT64_C(1) << 63);
    add(x.s + 4 * WORD, x.t, WORD);
    size_t left = n;
    left = crypt_blocks(&x, in, out, n, left, now, decrypts);
    in += n - left;
    out += n - left;
    if (left >= 8)
        crypt_word(&x, x.s, in, out, n, now, decrypts);
    crypt_last(&x, x.s + left / 8 * WORD, in + left / 8 * 8, out + left / 8 * 8, left % 8, n, now, decrypts);
    end(&x, key, tags, now);
    wipe(&x, sizeof x);
    wipe(key, sizeof key);
}
";

const AEAD: &str = "
/* Its last bytes, less than a word, then a bit and zeros. */
static inline void take_last(sponge *x, reg *r, const uint8_t *in, size_t size, size_t stride, size_t now)
{
    for (size_t b = 0; b < now; b++) {
        memset(x->bytes + 8 * b, 0, 8);
        if (size > 0)
            memcpy(x->bytes + 8 * b, in + stride * b, size);
        x->bytes[8 * b + size] = 1;
    }
    load_word(r, x->bytes);
}

/* After it the compiler must read the key again, from memory that is wiped, so it keeps no copy elsewhere. */
static inline void add_key(reg *r, const reg *key)
{
    add(r, key, 2 * WORD);
    __asm__ volatile(\"\" :: \"r\"(key), \"r\"(r) : \"memory\");
}

CRYPT_BLOCKS
/* The state of each message before its associated data, and its key. */
static void begin(sponge *x, reg *key, const uint8_t *keys, const uint8_t *nonces, size_t now)
{
    memset(x, 0, sizeof *x);
    for (int k = 0; k < 2; k++) {
        take(x, key + k * WORD, keys + 8 * k, 16, now);
        take(x, x->s + (3 + k) * WORD, nonces + 8 * k, 16, now);
    }
    set_word(x->s, UINT64_C(INITIAL));
    add_key(x->s + WORD, key);
    permute12(x);
    add_key(x->s + 3 * WORD, key);
}

/* Makes the tags, after the text. */
static void end(sponge *x, const reg *key, uint8_t *tags, size_t now)
{
    add_key(x->s + 2 * WORD, key);
    permute12(x);
    add_key(x->s + 3 * WORD, key);
    give(x, x->s + 3 * WORD, tags, 8, 16, now);
    give(x, x->s + 4 * WORD, tags + 8, 8, 16, now);
}

BATCH_OF_MESSAGES
/* Returns 1 and zeros the text if the tags differ, else 0; the compiler cannot make a branch of it. */
static unsigned judge(const uint8_t *made, const uint8_t *tag, uint8_t *out, size_t n)
{
    unsigned differs = 0;
    for (int i = 0; i < 16; i++)
        differs |= made[i] ^ tag[i];
    differs = (differs + 255) >> 8;
    __asm__ volatile(\"\" : \"+r\"(differs));
    uint8_t keep = (uint8_t)(differs - 1);
    for (size_t i = 0; i < n; i++)
        out[i] &= keep;
    return differs;
}

/* What is wrong with a call, or UP_OK. */
static int NAME_wrong(const uint8_t *ads, size_t n_ad, const uint8_t *in, const uint8_t *out, size_t n, size_t n_messages)
{
    if ((n_ad > 0 && !ads) || (n > 0 && (!in || !out)))
        return UP_NULL;
    size_t all = n * n_messages;
    if (in != out && (uintptr_t)in < (uintptr_t)out + all && (uintptr_t)out < (uintptr_t)in + all)
        return UP_OVERLAPS;
    return UP_OK;
}

int NAME_encrypt_many(const uint8_t *keys, const uint8_t *nonces, const uint8_t *ads, size_t n_ad, const uint8_t *in, uint8_t *out, size_t n,
    uint8_t *tags, size_t n_messages)
{
    if (n_messages == 0)
        return UP_OK;
    if (!keys || !nonces || !tags)
        return UP_NULL;
    int wrong = NAME_wrong(ads, n_ad, in, out, n, n_messages);
    if (wrong)
        return wrong;
    /* C does not allow arithmetic on NULL or memcpy with it, even for 0 bytes. */
    ads = ads ? ads : keys;
    in = in ? in : keys;
    out = out ? out : tags;
    for (size_t m = 0; m < n_messages; m += BLOCKS) {
        size_t now = n_messages - m < BLOCKS ? n_messages - m : BLOCKS;
        NAME_batch(keys + 16 * m, nonces + 16 * m, ads + n_ad * m, n_ad, in + n * m, out + n * m, n, tags + 16 * m, now, 0);
    }
    return UP_OK;
}

int NAME_decrypt_many(const uint8_t *keys, const uint8_t *nonces, const uint8_t *ads, size_t n_ad, const uint8_t *in, uint8_t *out, size_t n,
    const uint8_t *tags, uint8_t *is_right, size_t n_messages)
{
    if (n_messages == 0)
        return UP_OK;
    if (!keys || !nonces || !tags)
        return UP_NULL;
    int wrong = NAME_wrong(ads, n_ad, in, out, n, n_messages);
    if (wrong)
        return wrong;
    uint8_t made[16 * BLOCKS];
    unsigned forged = 0;
    ads = ads ? ads : keys;
    in = in ? in : keys;
    out = out ? out : made;
    for (size_t m = 0; m < n_messages; m += BLOCKS) {
        size_t now = n_messages - m < BLOCKS ? n_messages - m : BLOCKS;
        NAME_batch(keys + 16 * m, nonces + 16 * m, ads + n_ad * m, n_ad, in + n * m, out + n * m, n, made, now, 1);
        for (size_t b = 0; b < now; b++) {
            unsigned differs = judge(made + 16 * b, tags + 16 * (m + b), out + n * (m + b), n);
            if (is_right)
                is_right[m + b] = (uint8_t)(1 - differs);
            forged |= differs;
        }
    }
    wipe(made, sizeof made);
    return (int)forged;
}

int NAME_encrypt(const uint8_t key[16], const uint8_t nonce[16], const uint8_t *ad, size_t n_ad, const uint8_t *in, uint8_t *out, size_t n,
    uint8_t tag[16])
{
    return NAME_encrypt_many(key, nonce, ad, n_ad, in, out, n, tag, 1);
}

int NAME_decrypt(const uint8_t key[16], const uint8_t nonce[16], const uint8_t *ad, size_t n_ad, const uint8_t *in, uint8_t *out, size_t n,
    const uint8_t tag[16])
{
    return NAME_decrypt_many(key, nonce, ad, n_ad, in, out, n, tag, NULL, 1);
}
";
