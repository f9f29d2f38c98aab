//! Bytes to registers and back, and the byte interface that users call.

use std::fmt::Write;

use crate::layout::Layout;
use crate::pipeline::Slicing;

use super::arch::Shape;

/// A parameter or result as bytes.
#[derive(Debug, Clone)]
pub struct Field {
    /// C identifier of the functions that move it.
    pub name: String,
    /// Where each bit lies in the string.
    pub layout: Layout,
    /// Number of words.
    pub n_words: usize,
    /// Bits of a word in the source.
    pub word_bits: u32,
}

impl Field {
    /// Registers that hold the field.
    pub fn n_registers(&self, shape: Shape) -> usize {
        if shape.slicing == Slicing::Bit { self.n_words * self.word_bits as usize } else { self.n_words }
    }
}

/// The functions that the others use.
pub fn common(shape: Shape) -> String {
    if shape.slicing != Slicing::Bit {
        return String::new();
    }
    "
/* Turns a 64 x 64 bit matrix: bit i of word j becomes bit j of word i. */
static void transpose64(uint64_t a[64])
{
    uint64_t mask = UINT64_C(0x00000000ffffffff);
    for (int j = 32; j != 0; j >>= 1, mask ^= mask << j) {
        for (int k = 0; k < 64; k = ((k | j) + 1) & ~j) {
            uint64_t t = ((a[k] >> j) ^ a[k | j]) & mask;
            a[k] ^= t << j;
            a[k | j] ^= t;
        }
    }
}

static uint64_t read64(const uint8_t *p, size_t n)
{
    uint64_t x = 0;
    for (size_t i = 0; i < n; i++)
        x |= (uint64_t)p[i] << (8 * i);
    return x;
}
"
    .into()
}

/// `load_NAME` puts a string of each of `n` blocks, `stride` bytes apart, into registers; blocks
/// beyond are zero. `store_NAME` takes them out again.
pub fn load_and_store(field: &Field, shape: Shape, load: bool, store: bool) -> String {
    match shape.slicing {
        Slicing::Bit => bitsliced(field, shape, load, store),
        Slicing::Vertical => vertical(field, load, store),
        Slicing::Horizontal => horizontal(field, shape, load, store),
    }
}

fn table(name: &str, what: &str, values: impl Iterator<Item = u32>) -> String {
    let values: Vec<String> = values.map(|v| v.to_string()).collect();
    let lines: Vec<String> = values.chunks(16).map(|c| format!("    {},", c.join(", "))).collect();
    format!("\nstatic const uint16_t {what}_of_{name}[{}] = {{\n{}\n}};\n", values.len(), lines.join("\n"))
}

fn bitsliced(field: &Field, shape: Shape, load: bool, store: bool) -> String {
    let (name, n_bytes) = (&field.name, field.layout.n_bytes);
    let groups = shape.register_bits() / 64;
    // Bit q of a string, counted from the least significant of each byte, belongs to this register.
    const NONE: u32 = 0xffff;
    let mut register = vec![NONE; n_bytes.div_ceil(8) * 64];
    for (j, at) in field.layout.position.iter().enumerate() {
        register[(at ^ 7) as usize] = j as u32;
    }
    let mut out = table(name, "register", register.iter().copied());
    let check = if register.contains(&NONE) { format!("if (register_of_{name}[64 * c + i] != {NONE}) ") } else { String::new() };
    if load {
        let _ = write!(
            out,
            "
static void load_{name}(reg *r, const uint8_t *in, size_t stride, size_t n)
{{
    for (int g = 0; g < {groups}; g++) {{
        for (size_t c = 0; c < {chunks}; c++) {{
            uint64_t a[64];
            size_t bytes = {n_bytes} - 8 * c < 8 ? {n_bytes} - 8 * c : 8;
            for (size_t b = 0; b < 64; b++)
                a[b] = 64 * g + b < n ? read64(in + (64 * g + b) * stride + 8 * c, bytes) : 0;
            transpose64(a);
            for (int i = 0; i < 64; i++)
                {check}memcpy((uint8_t *)&r[register_of_{name}[64 * c + i]] + 8 * g, &a[i], 8);
        }}
    }}
}}
",
            chunks = n_bytes.div_ceil(8)
        );
    }
    if store {
        let absent = if check.is_empty() { String::new() } else { "a[i] = 0;\n                ".to_string() };
        let _ = write!(
            out,
            "
static void store_{name}(const reg *r, uint8_t *out, size_t stride, size_t n)
{{
    for (int g = 0; g < {groups}; g++) {{
        for (size_t c = 0; c < {chunks}; c++) {{
            uint64_t a[64];
            size_t bytes = {n_bytes} - 8 * c < 8 ? {n_bytes} - 8 * c : 8;
            for (int i = 0; i < 64; i++) {{
                {absent}{check}memcpy(&a[i], (const uint8_t *)&r[register_of_{name}[64 * c + i]] + 8 * g, 8);
            }}
            transpose64(a);
            for (size_t b = 0; b < 64 && 64 * g + b < n; b++)
                for (size_t i = 0; i < bytes; i++)
                    out[(64 * g + b) * stride + 8 * c + i] = (uint8_t)(a[b] >> (8 * i));
        }}
    }}
}}
",
            chunks = n_bytes.div_ceil(8)
        );
    }
    out
}

/// Byte offset of each word and whether it is big-endian, when words are whole bytes in a row.
fn byte_words(field: &Field) -> Option<(Vec<u32>, bool)> {
    let m = field.word_bits;
    if !m.is_multiple_of(8) {
        return None;
    }
    for big in [true, false] {
        let mut offsets = Vec::new();
        let fits = field.layout.position.chunks(m as usize).all(|word| {
            let base = if big { word[0] } else { word[m as usize - 8] };
            offsets.push(base / 8);
            word.iter().enumerate().all(|(i, at)| {
                let i = i as u32;
                let byte = if big { i / 8 } else { m / 8 - 1 - i / 8 };
                *at == base + 8 * byte + i % 8
            }) && base % 8 == 0
        });
        if fits {
            return Some((offsets, big));
        }
    }
    None
}

fn vertical(field: &Field, load: bool, store: bool) -> String {
    let (name, n, m) = (&field.name, field.n_words, field.word_bits);
    let (mut out, get, put);
    if let Some((offsets, big)) = byte_words(field) {
        out = table(name, "offset", offsets.into_iter());
        let shift = if big { format!("{} - 8 * i", m - 8) } else { "8 * i".into() };
        get = format!(
            "const uint8_t *p = in + b * stride + offset_of_{name}[j];
            for (int i = 0; i < {}; i++)
                x |= (lane)((lane)p[i] << ({shift}));",
            m / 8
        );
        put = format!(
            "uint8_t *p = out + b * stride + offset_of_{name}[j];
            for (int i = 0; i < {}; i++)
                p[i] = (uint8_t)(x >> ({shift}));",
            m / 8
        );
    } else {
        out = table(name, "position", field.layout.position.iter().copied());
        get = format!(
            "const uint8_t *p = in + b * stride;
            for (int i = 0; i < {m}; i++) {{
                unsigned at = position_of_{name}[{m} * j + i];
                x = (lane)(x << 1 | (p[at >> 3] >> (7 - (at & 7)) & 1));
            }}"
        );
        put = format!(
            "uint8_t *p = out + b * stride;
            for (int i = 0; i < {m}; i++) {{
                unsigned at = position_of_{name}[{m} * j + i];
                p[at >> 3] |= (uint8_t)((x >> ({m} - 1 - i) & 1) << (7 - (at & 7)));
            }}"
        );
    }
    if load {
        let _ = write!(
            out,
            "
static void load_{name}(reg *r, const uint8_t *in, size_t stride, size_t n)
{{
    memset(r, 0, {n} * sizeof *r);
    for (size_t b = 0; b < BLOCKS && b < n; b++) {{
        for (int j = 0; j < {n}; j++) {{
            lane x = 0;
            {get}
            memcpy((uint8_t *)&r[j] + b * sizeof x, &x, sizeof x);
        }}
    }}
}}
"
        );
    }
    if store {
        let _ = write!(
            out,
            "
static void store_{name}(const reg *r, uint8_t *out, size_t stride, size_t n)
{{
    for (size_t b = 0; b < BLOCKS && b < n; b++) {{
        memset(out + b * stride, 0, {n_bytes});
        for (int j = 0; j < {n}; j++) {{
            lane x;
            memcpy(&x, (const uint8_t *)&r[j] + b * sizeof x, sizeof x);
            {put}
        }}
    }}
}}
",
            n_bytes = field.layout.n_bytes
        );
    }
    out
}

fn horizontal(field: &Field, shape: Shape, load: bool, store: bool) -> String {
    let (name, n, m) = (&field.name, field.n_words, field.word_bits);
    let (width, spread) = (shape.element_bits(), shape.spread_bits());
    let mut out = table(name, "position", field.layout.position.iter().copied());
    // Block b is bit b % width of every element, in part b / width of the register.
    let bit = format!("unsigned bit = (unsigned)(b / {width}) * {spread} + {width} * i + (unsigned)(b % {width});");
    if load {
        let _ = write!(
            out,
            "
static void load_{name}(reg *r, const uint8_t *in, size_t stride, size_t n)
{{
    memset(r, 0, {n} * sizeof *r);
    for (size_t b = 0; b < BLOCKS && b < n; b++) {{
        const uint8_t *p = in + b * stride;
        for (unsigned j = 0; j < {n}; j++) {{
            uint8_t *q = (uint8_t *)&r[j];
            for (unsigned i = 0; i < {m}; i++) {{
                unsigned at = position_of_{name}[{m} * j + i];
                {bit}
                q[bit >> 3] |= (uint8_t)((p[at >> 3] >> (7 - (at & 7)) & 1) << (bit & 7));
            }}
        }}
    }}
}}
"
        );
    }
    if store {
        let _ = write!(
            out,
            "
static void store_{name}(const reg *r, uint8_t *out, size_t stride, size_t n)
{{
    for (size_t b = 0; b < BLOCKS && b < n; b++) {{
        uint8_t *p = out + b * stride;
        memset(p, 0, {n_bytes});
        for (unsigned j = 0; j < {n}; j++) {{
            const uint8_t *q = (const uint8_t *)&r[j];
            for (unsigned i = 0; i < {m}; i++) {{
                unsigned at = position_of_{name}[{m} * j + i];
                {bit}
                p[at >> 3] |= (uint8_t)((q[bit >> 3] >> (bit & 7) & 1) << (7 - (at & 7)));
            }}
        }}
    }}
}}
",
            n_bytes = field.layout.n_bytes
        );
    }
    out
}
