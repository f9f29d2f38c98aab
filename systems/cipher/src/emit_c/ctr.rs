//! Counter mode in C: a stream of any length, in pieces of any size, over the sliced primitive.
//!
//! Counters are blocks like any other, except where whole words of a vertical register hold nothing
//! but counter: those are counted in the lanes, and the rest of the input is prepared once a call.
//! Key stream is made a batch at a time, or several if they are interleaved; what a call does not
//! use is kept in the state for the next.

use std::fmt::Write;

use crate::options::Slicing;

use super::Unit;
use super::arch::Shape;
use super::bytes::{self, Blocks};
use super::field::Field;
use super::interface::{Batches, move_batches, sum};

/// As much of a string as fills registers.
const BY_REGISTERS: &str = "    for (; n >= sizeof(reg); n -= sizeof(reg)) {
        reg x, y;
        memcpy(&x, in, sizeof x);
        memcpy(&y, stream, sizeof y);
        x ^= y;
        memcpy(out, &x, sizeof x);
        stream += sizeof x;
        in += sizeof x;
        out += sizeof x;
    }
";

/// A piece of the block that each stream starts from, the primitive's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CounterPiece {
    /// Bytes that are always the same.
    Fixed(Vec<u8>),
    /// Bytes that the caller gives under this name, such as a key or a nonce.
    Given(String, usize),
    Counter,
}

/// How a primitive counts.
#[derive(Debug, Clone)]
pub struct Counter {
    /// As on the command line, and in the C names: `ctr`, `ctr64`.
    pub mode: String,
    /// Bits of the counter: 32, 64 or 128.
    pub bits: u32,
    /// The first byte is the most significant.
    pub is_big_endian: bool,
    pub pieces: Vec<CounterPiece>,
}

/// A register whose lanes are counted in.
struct CounterWord {
    register: usize,
    /// The bit of the counter that is the least significant one of a lane.
    shift: u32,
    /// Its bytes are in reverse order.
    is_swapped: bool,
}

impl CounterWord {
    /// The lanes are counted in by one addition.
    fn is_sum(&self) -> bool {
        self.shift == 0 && !self.is_swapped
    }
}

/// C that counts in the lanes of a register of each batch, whose blocks have this order.
fn counted(register: usize, batches: &Batches, order: Option<&[u32]>) -> String {
    let blocks: Vec<u32> = bytes::blocks_of_slices(batches.shape, order).collect();
    let of_batches = blocks.chunks(batches.shape.slices() as usize).enumerate();
    of_batches
        .map(|(batch, blocks)| {
            let to = register + batch * batches.input;
            let list: Vec<String> = blocks.iter().map(u32::to_string).collect();
            if batches.shape.is_vector() {
                format!("    in_[{to}] = SPLAT(low) + (reg){{{}}};\n", list.join(", "))
            } else {
                format!("    in_[{to}] = (reg)(low + {});\n", list.join(", "))
            }
        })
        .collect()
}

impl Counter {
    pub(crate) fn n_bytes(&self) -> usize {
        self.bits as usize / 8
    }

    /// The place of the counter in the block.
    fn at(&self) -> usize {
        let before = self.pieces.iter().take_while(|p| **p != CounterPiece::Counter);
        before.map(|p| self.size(p)).sum()
    }

    fn size(&self, piece: &CounterPiece) -> usize {
        match piece {
            CounterPiece::Fixed(bytes) => bytes.len(),
            CounterPiece::Given(_, n) => *n,
            CounterPiece::Counter => self.n_bytes(),
        }
    }

    /// The whole block is the counter, which is given as bytes then.
    pub(crate) fn is_block(&self) -> bool {
        self.pieces == [CounterPiece::Counter]
    }

    /// The registers of the input that hold nothing but bits of the counter; `None` if a register
    /// mixes them with other bits or has them in another order.
    fn words(&self, input: &Field, shape: Shape) -> Option<Vec<CounterWord>> {
        if shape.slicing != Slicing::Vertical || shape.word_bits != input.word_bits {
            return None;
        }
        let (start, n, m) = (self.at() as u32, self.n_bytes() as u32, input.word_bits);
        let counter_bit = |at: u32| {
            let byte = (at / 8).checked_sub(start).filter(|byte| *byte < n)?;
            Some(8 * if self.is_big_endian { n - 1 - byte } else { byte } + 7 - at % 8)
        };
        let swapped =
            |bit: u32| if m.is_multiple_of(8) { m - 8 - bit / 8 * 8 + bit % 8 } else { bit };
        let mut words = Vec::new();
        for (register, word) in input.layout.position.chunks(m as usize).enumerate() {
            let bits: Vec<Option<u32>> = word.iter().rev().map(|at| counter_bit(*at)).collect();
            if bits.iter().all(Option::is_none) {
                continue;
            }
            let shift = bits.iter().copied().min()??;
            let is = |order: &dyn Fn(u32) -> u32| {
                bits.iter().zip(0..).all(|(bit, k)| *bit == Some(shift + order(k)))
            };
            let is_plain = is(&|k| k);
            if !is_plain && !is(&swapped) {
                return None;
            }
            words.push(CounterWord { register, shift, is_swapped: !is_plain });
        }
        Some(words)
    }

    /// `NAME_batch` or `NAME_batches`: makes key stream of the next blocks in `out_`.
    fn batch(
        &self,
        name: &str,
        unit: &Unit,
        batches: &Batches,
        (words, order): (Option<&[CounterWord]>, Option<&[u32]>),
    ) -> String {
        let (n, n_blocks) = (unit.output_bytes(), batches.shape.blocks());
        let (ctr, (keys, _)) = (self.prefix(name), self.keys(name, unit, batches.shape));
        let function =
            format!("{ctr}_{}", if batches.shape.interleave > 1 { "batches" } else { "batch" });
        let head = |holds: &str, holder: &str| {
            format!(
                "
/* Makes the next {n_blocks} blocks of key stream in registers{holds}. */
static inline __attribute__((always_inline)) void {function}({ctr} *ctr, {keys}{holder}reg *out_)
{{
    uint64_t high = ctr->high, low = ctr->low;
    int ends = {ctr}_left(ctr) <= {n_blocks};
"
            )
        };
        let tail = "    ctr->high = high;\n    ctr->low = low;\n    ctr->has_ended = ends;\n";
        let Some(words) = words else {
            let wipe = if self.is_block() { "" } else { "    wipe(in_, sizeof in_);\n" };
            let carry = if self.bits == 128 { "high += low == 0;" } else { "(void)high;" };
            return format!(
                "{}    for (int b = 0; b < {n_blocks}; b++) {{
        uint8_t *p = blocks + {n} * b + {};
        {}
        low++;
        {carry}
    }}
{tail}    reg in_[{}];
{}    {}
{wipe}}}
",
                head(" from blocks, which hold all but the counters", "uint8_t *blocks, "),
                self.at(),
                self.write(batches.shape),
                batches.shape.interleave as usize * batches.input,
                batches.load("blocks", n, 4),
                batches.entry,
            );
        };
        let mut text = head("; in_ holds all but the counters", "reg *in_, ");
        for word in words.iter().filter(|word| word.is_sum()) {
            text += &counted(word.register, batches, order);
        }
        let words: Vec<&CounterWord> = words.iter().filter(|word| !word.is_sum()).collect();
        if !words.is_empty() {
            let _ = writeln!(
                text,
                "    lane words[{}][{n_blocks}] __attribute__((aligned(64)));\n    for (int s = 0; s < {n_blocks}; s++) {{",
                words.len()
            );
            let _ = writeln!(text, "        uint64_t x = low + {ctr}_block[s];");
            if self.bits == 128 {
                text += "        uint64_t y = high + (x < low);\n";
            }
        }
        for (k, word) in words.iter().enumerate() {
            let value = match word.shift {
                0 => "x".to_string(),
                64 => "y".to_string(),
                1..64 => format!("(x >> {})", word.shift),
                _ => format!("(y >> {})", word.shift - 64),
            };
            let bits = batches.shape.word_bits;
            let value = if word.is_swapped {
                format!("__builtin_bswap{bits}((lane){value})")
            } else {
                format!("(lane){value}")
            };
            let _ = writeln!(text, "        words[{k}][s] = {value};");
        }
        if !words.is_empty() {
            text += "    }\n";
        }
        for (k, word) in words.iter().enumerate() {
            for batch in 0..batches.shape.interleave as usize {
                let (to, from) = (
                    word.register + batch * batches.input,
                    batch * batches.shape.slices() as usize,
                );
                let _ = writeln!(text, "    memcpy(&in_[{to}], words[{k}] + {from}, sizeof(reg));");
            }
        }
        let _ = writeln!(text, "    low += {n_blocks};");
        if self.bits == 128 {
            let _ = writeln!(text, "    high += low < {n_blocks};");
        }
        text + &format!("{tail}    {}\n}}\n", batches.entry)
    }

    /// What callers of these functions pass, prepare and wipe. Counters are not secret; keys in
    /// the same block are.
    fn source(
        &self,
        unit: &Unit,
        batches: &Batches,
        input: &Field,
        has_words: bool,
    ) -> (&'static str, String, String) {
        let (n, shape) = (unit.output_bytes(), batches.shape);
        let registers =
            format!("        reg in_[{}];\n", shape.interleave as usize * batches.input);
        let buffer = format!(
            "        uint8_t blocks[{}] __attribute__((aligned(64)));\n",
            batches.n_bytes(n)
        );
        let template = format!(
            "        for (int b = 0; b < {}; b++)\n            memcpy(blocks + {n} * b, ctr->block, {n});\n",
            shape.blocks()
        );
        let (wipe_blocks, wipe_registers) =
            ("        wipe(blocks, sizeof blocks);\n", "        wipe(in_, sizeof in_);\n");
        match (has_words, self.is_block()) {
            (false, true) => ("blocks", buffer, String::new()),
            (true, true) => ("in_", registers, String::new()),
            (false, false) => ("blocks", buffer + &template, wipe_blocks.into()),
            (true, false) => match self.lanes(input, batches) {
                Some(lanes) => ("in_", registers + &lanes, wipe_registers.into()),
                None => {
                    let load = batches.load("blocks", n, 8);
                    (
                        "in_",
                        registers + &buffer + &template + &load,
                        format!("{wipe_blocks}{wipe_registers}"),
                    )
                }
            },
        }
    }

    /// The same word of `ctr->block` in every lane of each register; `None` if a word is not
    /// made of adjacent bytes.
    fn lanes(&self, input: &Field, batches: &Batches) -> Option<String> {
        let m = input.word_bits;
        let starts = input.layout.position.chunks(m as usize).map(|word| {
            let first = word
                .iter()
                .min()
                .copied()
                .filter(|at| m.is_multiple_of(8) && at.is_multiple_of(8))?;
            let is = |order: &dyn Fn(u32) -> u32| {
                word.iter().zip(0..).all(|(at, k)| *at == first + order(k))
            };
            let little = |k: u32| m - 8 - k / 8 * 8 + k % 8;
            if is(&little) {
                Some((first / 8, false))
            } else {
                is(&|k| k).then_some((first / 8, true))
            }
        });
        let starts: Vec<(u32, bool)> = starts.collect::<Option<_>>()?;
        let is_big = starts.iter().all(|start| start.1) && m > 8;
        if !is_big && starts.iter().any(|start| start.1) {
            return None;
        }
        let in_row = starts.iter().zip(0..).all(|(start, k)| start.0 == k * m / 8);
        let word =
            if is_big { batches.shape.big(m, "word") } else { batches.shape.little(m, "word") };
        let all: String = (0..batches.shape.interleave as usize)
            .map(|k| {
                format!(
                    "            in_[{}] = SPLAT({word});\n",
                    if k == 0 { "j".into() } else { sum("j", k * batches.input) }
                )
            })
            .collect();
        in_row.then(|| {
            format!(
                "        for (int j = 0; j < {}; j++) {{
            lane word;
            memcpy(&word, ctr->block + {} * j, sizeof word);
{all}        }}\n",
                batches.input,
                m / 8
            )
        })
    }

    /// What `_xor` does with more than `least` bytes: it XORs whole batches as it stores them, and
    /// the rest with key stream of one more batch.
    fn section(
        &self,
        name: &str,
        unit: &Unit,
        batches: &Batches,
        least: usize,
        has_xor: bool,
        words: Option<&[CounterWord]>,
    ) -> String {
        let (ctr, n) = (self.prefix(name), unit.output_bytes());
        let (_, pass) = self.keys(name, unit, batches.shape);
        let input =
            unit.fields.iter().find(|f| f.name == "input").expect("every primitive has an input");
        let (source, prepare, wipes) = self.source(unit, batches, input, words.is_some());
        let function =
            format!("{ctr}_{}", if batches.shape.interleave > 1 { "batches" } else { "batch" });
        let (size, step, n_blocks) =
            (batches.n_bytes(n), n * batches.shape.slices() as usize, batches.shape.blocks());
        let filled = format!(
            "            if (ctr->filled < {size})\n                ctr->filled = {size};\n"
        );
        let xor = if has_xor {
            move_batches(
                "xor_output",
                batches.shape,
                &[("out_", batches.output), ("in", step), ("out", step)],
                12,
            )
        } else {
            let store = batches.store("ctr->stream", n, 12);
            format!("{store}{filled}            {ctr}_bytes(ctr->stream, in, out, {size});\n")
        };
        format!(
            "    if (n > {least}) {{
        reg out_[{n_output}];
{prepare}        for (; n >= {size}; in += {size}, out += {size}, n -= {size}) {{
            {function}(ctr, {pass}{source}, out_);
{xor}        }}
        if (n > {least}) {{
            uint64_t left = {ctr}_left(ctr);
            {function}(ctr, {pass}{source}, out_);
{store}{filled}            {ctr}_bytes(ctr->stream, in, out, n);
            ctr->at = n;
            ctr->end = left < {n_blocks} ? {n} * left : {size};
            n = 0;
        }}
{wipes}        wipe(out_, sizeof out_);
    }}
",
            n_output = batches.shape.interleave as usize * batches.output,
            store = batches.store("ctr->stream", n, 12),
        )
    }

    /// The parameters of `init` after the state.
    fn params(&self) -> String {
        let param = |piece: &CounterPiece| match piece {
            CounterPiece::Fixed(_) => String::new(),
            CounterPiece::Given(name, n) => format!(", const uint8_t {name}[{n}]"),
            CounterPiece::Counter if self.is_block() => {
                format!(", const uint8_t counter[{}]", self.n_bytes())
            }
            CounterPiece::Counter => format!(", uint{}_t counter", self.bits),
        };
        self.pieces.iter().map(param).collect()
    }

    pub fn prefix(&self, name: &str) -> String {
        format!("{name}_{}", self.mode)
    }

    pub(super) fn keys(&self, name: &str, unit: &Unit, shape: Shape) -> (String, &'static str) {
        if unit.key_registers(shape).1 > 0 {
            (format!("const {name}_roundkeys *keys, "), "keys, ")
        } else {
            (String::new(), "")
        }
    }

    /// Return values, state and prototypes, for the C file and the header.
    pub fn declarations(&self, name: &str, unit: &Unit, shape: Shape) -> String {
        let (ctr, n) = (self.prefix(name), unit.output_bytes());
        let up = ctr.to_uppercase();
        let (keys, _) = self.keys(name, unit, shape);
        format!(
            "/* Counter mode: what a call returns. After an error nothing is written, and the stream has not moved. */
enum {{
    {up}_OK = 0,
    {up}_ENDS = 1,    /* the counter would wrap: {wraps} */
    {up}_OVERLAPS = 2, /* in and out overlap and are not the same */
    {up}_NULL = 3      /* in or out is NULL and n is not 0 */
}};

/* A stream. Only the functions below use its members. */
typedef struct {{
{block}    uint64_t high, low;
    size_t at, end; /* key stream from at to end is not used yet */
    size_t filled;  /* bytes of what follows that this stream has held */
    int has_ended;
    uint8_t stream[{batch}] __attribute__((aligned(64)));
}} __attribute__((aligned(64))) {ctr};

/* Starts a stream{init}. */
void {ctr}_init({ctr} *ctr{params});

/* XORs the next n bytes of key stream to in, in place if out is in; a stream may be cut into pieces of any size. */
int {ctr}_xor({ctr} *ctr, {keys}const uint8_t *in, uint8_t *out, size_t n);

/* Overwrites a stream that is no longer needed{wiped}. */
void {ctr}_wipe({ctr} *ctr);
",
            wraps = match self.bits {
                128 => "a stream ends with counter 2^128 - 1".to_string(),
                bits => format!("a stream ends with counter 2^{bits} - 1, the most that a nonce may encrypt"),
            },
            init = if self.is_block() {
                format!(
                    "; the counter is a number of {} bits, {} byte first",
                    self.bits,
                    if self.is_big_endian { "most significant" } else { "least significant" }
                )
            } else {
                String::new()
            },
            wiped = if keys.is_empty() { ", its key with it" } else { "; its round keys are wiped on their own" },
            block = if self.is_block() { String::new() } else { format!("    uint8_t block[{n}];\n") },
            batch = n * shape.blocks() as usize,
            params = self.params(),
        )
    }

    fn init(&self, ctr: &str) -> String {
        let mut out = format!("\nvoid {ctr}_init({ctr} *ctr{})\n{{\n", self.params());
        let mut at = 0;
        for piece in &self.pieces {
            match piece {
                CounterPiece::Fixed(bytes) => {
                    let list: Vec<String> = bytes.iter().map(|b| format!("{b:#04x}")).collect();
                    let _ = writeln!(
                        out,
                        "    memcpy(ctr->block + {at}, (const uint8_t[]){{{}}}, {});",
                        list.join(", "),
                        bytes.len()
                    );
                }
                CounterPiece::Given(name, n) => {
                    let _ = writeln!(out, "    memcpy(ctr->block + {at}, {name}, {n});");
                }
                CounterPiece::Counter => {}
            }
            at += self.size(piece);
        }
        out += "    ctr->high = 0;\n";
        if self.is_block() {
            let shift = |i: usize, n: usize| 8 * if self.is_big_endian { n - 1 - i } else { i };
            let word = |from: usize, n: usize| -> String {
                (0..n)
                    .map(|i| format!("(uint64_t)counter[{}] << {}", from + i, shift(i, n)))
                    .collect::<Vec<_>>()
                    .join(" | ")
            };
            if self.bits == 128 {
                let (high, low) = if self.is_big_endian { (0, 8) } else { (8, 0) };
                let _ = writeln!(out, "    ctr->high = {};", word(high, 8));
                let _ = writeln!(out, "    ctr->low = {};", word(low, 8));
            } else {
                let _ = writeln!(out, "    ctr->low = {};", word(0, self.n_bytes()));
            }
        } else {
            out += "    ctr->low = counter;\n";
        }
        out + "    ctr->at = ctr->end = ctr->filled = 0;\n    ctr->has_ended = 0;\n}\n"
    }

    /// A part of the counter as a number that is copied to its bytes.
    fn ordered(&self, bits: u32, value: &str, shape: Shape) -> String {
        if self.is_big_endian { shape.big(bits, value) } else { shape.little(bits, value) }
    }

    /// C that writes the counter `high`, `low` to `p`.
    fn write(&self, shape: Shape) -> String {
        let big = if self.is_big_endian { "big" } else { "little" };
        match (self.bits, self.is_big_endian) {
            (128, true) => {
                format!("put_counter_{big}(p, high);\n        put_counter_{big}(p + 8, low);")
            }
            (128, false) => {
                format!("put_counter_{big}(p, low);\n        put_counter_{big}(p + 8, high);")
            }
            (64, _) => format!("put_counter_{big}(p, low);"),
            _ => format!(
                "uint32_t x = {};\n        memcpy(p, &x, 4);",
                self.ordered(32, "(uint32_t)low", shape)
            ),
        }
    }

    /// The functions: on one batch, and on all interleaved ones if there are several.
    pub(super) fn functions(
        &self,
        name: &str,
        unit: &Unit,
        shape: Shape,
        (one, all): (&Batches, Option<&Batches>),
        blocks: &Blocks,
    ) -> String {
        let (ctr, n) = (self.prefix(name), unit.output_bytes());
        let (keys, _) = self.keys(name, unit, shape);
        let up = ctr.to_uppercase();
        let left = match self.bits {
            128 => "if (ctr->high != UINT64_MAX)\n        return UINT64_MAX;\n    return ctr->low == 0 ? UINT64_MAX : 0 - ctr->low;"
                .to_string(),
            64 => "return ctr->low == 0 ? UINT64_MAX : 0 - ctr->low;".into(),
            _ => "return (UINT64_C(1) << 32) - ctr->low;".into(),
        };
        let input =
            unit.fields.iter().find(|f| f.name == "input").expect("every primitive has an input");
        let words = self.words(input, shape);
        let order = blocks.order.as_deref();
        let mut make = String::new();
        if words.iter().flatten().any(|word| !word.is_sum()) {
            make += &bytes::order_table(&format!("{ctr}_block"), shape, order);
        }
        let mut sections = String::new();
        for batches in all.into_iter().chain([one]) {
            make += &self.batch(name, unit, batches, (words.as_deref(), order));
            let least = if batches.shape.interleave > 1 { one.n_bytes(n) } else { 0 };
            sections += &self.section(name, unit, batches, least, blocks.has_xor, words.as_deref());
        }
        let (big, swapped) =
            (if self.is_big_endian { "big" } else { "little" }, self.ordered(64, "x", shape));
        let put_counter = if self.bits >= 64 && words.is_none() {
            format!(
                "\nstatic inline void put_counter_{big}(uint8_t *p, uint64_t x)\n{{\n    x = {swapped};\n    memcpy(p, &x, 8);\n}}\n"
            )
        } else {
            String::new()
        };
        let (piece, registers) =
            if shape.is_vector() { ("a register or a word", BY_REGISTERS) } else { ("a word", "") };
        format!(
            "\n{declarations}{put_counter}
/* Blocks until the counter wraps; UINT64_MAX if there are more. */
static uint64_t {ctr}_left(const {ctr} *ctr)
{{
    if (ctr->has_ended)
        return 0;
    {left}
}}

/* XORs key stream to bytes, {piece} at a time; out may be in. */
static inline void {ctr}_bytes(const uint8_t *stream, const uint8_t *in, uint8_t *out, size_t n)
{{
{registers}    for (; n >= 8; n -= 8, stream += 8, in += 8, out += 8) {{
        uint64_t x, y;
        memcpy(&x, in, 8);
        memcpy(&y, stream, 8);
        x ^= y;
        memcpy(out, &x, 8);
    }}
    for (size_t i = 0; i < n; i++)
        out[i] = in[i] ^ stream[i];
}}
{make}
{init}
int {ctr}_xor({ctr} *ctr, {keys}const uint8_t *in, uint8_t *out, size_t n)
{{
    if (n == 0)
        return {up}_OK;
    if (!in || !out)
        return {up}_NULL;
    if (in != out && (uintptr_t)in < (uintptr_t)out + n && (uintptr_t)out < (uintptr_t)in + n)
        return {up}_OVERLAPS;
    size_t ready = ctr->end - ctr->at, first = n < ready ? n : ready;
    if ((n - first) / {n} + ((n - first) % {n} != 0) > {ctr}_left(ctr))
        return {up}_ENDS;
    {ctr}_bytes(ctr->stream + ctr->at, in, out, first);
    ctr->at += first;
    in += first;
    out += first;
    n -= first;
    if (n == 0)
        return {up}_OK;
    ctr->at = ctr->end = 0;
{sections}    return {up}_OK;
}}

void {ctr}_wipe({ctr} *ctr)
{{
    wipe(ctr, sizeof *ctr);
}}
",
            declarations = self.declarations(name, unit, shape),
            init = self.init(&ctr),
        )
    }
}
