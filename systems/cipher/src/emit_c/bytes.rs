//! Bytes to registers and back: the function that moves each field, loops where no network fits,
//! and one key for all slices.

use std::fmt::Write;

use crate::options::Slicing;
use crate::transpose::Direction;

use super::arch::Shape;
use super::field::Field;
use super::network::{self, Helpers};

/// The functions that move the blocks of a unit, and the block that each slice holds.
#[derive(Debug, Default)]
pub struct Blocks {
    /// `load_NAME` and `store_NAME` of the fields that have a network; what they call is in the
    /// helpers.
    pub text: String,
    /// Fields whose `load_NAME` is in `text`.
    pub loads: Vec<String>,
    /// Fields whose `store_NAME` is in `text`.
    pub stores: Vec<String>,
    /// `xor_NAME` of the only output is in `text`.
    pub has_xor: bool,
    /// For each bit of a slice's number, the bit of the block's number that it is.
    pub order: Option<Vec<u32>>,
}

/// Networks for the fields where one fits: first `input`, which chooses the order of blocks unless
/// it is given, then the results; for streams (`with_xor`) also one that XORs.
pub fn blocks(
    input: &Field,
    outputs: &[Field],
    shape: Shape,
    with_xor: bool,
    order: Option<&[u32]>,
    helpers: &mut Helpers,
) -> Blocks {
    let mut blocks = Blocks::default();
    let mut functions = String::new();
    if let Some(moves) = input.moves(shape, Direction::Load, order)
        && let Some(text) = network::function(input, shape, Direction::Load, &moves, helpers)
    {
        functions += &text;
        blocks.loads.push(input.name.clone());
        blocks.order = Some(moves.order);
    }
    for output in outputs {
        let order: Vec<u32> =
            blocks.order.clone().unwrap_or_else(|| (0..shape.slices().ilog2()).collect());
        if let Some(moves) = output.moves(shape, Direction::Store, Some(&order))
            && let Some(text) = network::function(output, shape, Direction::Store, &moves, helpers)
        {
            functions += &text;
            blocks.stores.push(output.name.clone());
            if let Some(text) = network::xor(output, shape, &moves, helpers).filter(|_| with_xor) {
                functions += &text;
                blocks.has_xor = true;
            }
        }
    }
    blocks.text = functions;
    blocks
}

impl Blocks {
    /// Networks for fields whose strings are in the order of the blocks, where one fits.
    pub fn add_loads(&mut self, fields: &[&Field], shape: Shape, helpers: &mut Helpers) {
        let order: Vec<u32> =
            self.order.clone().unwrap_or_else(|| (0..shape.slices().ilog2()).collect());
        for field in fields {
            if let Some(moves) = field.moves(shape, Direction::Load, Some(&order))
                && let Some(text) =
                    network::function(field, shape, Direction::Load, &moves, helpers)
            {
                self.text += &text;
                self.loads.push(field.name.clone());
            }
        }
    }
}

/// The table of each slice's block, for the loops.
pub fn block_of_slice(shape: Shape, order: Option<&[u32]>) -> String {
    order_table("block_of_slice", Shape { interleave: 1, ..shape }, order)
}

/// The same for all batches under another name.
pub fn order_table(name: &str, shape: Shape, order: Option<&[u32]>) -> String {
    table(name, blocks_of_slices(shape, order))
}

/// The block in each slice of all batches.
pub fn blocks_of_slices(shape: Shape, order: Option<&[u32]>) -> impl Iterator<Item = u32> {
    let n = shape.slices();
    let block = move |slice: u32| {
        order.map_or(slice, |o| {
            o.iter().enumerate().fold(0, |b, (k, bit)| b | (slice >> k & 1) << bit)
        })
    };
    (0..shape.blocks()).map(move |slice| slice / n * n + block(slice % n))
}

/// Functions that the loops call.
pub fn common(shape: Shape) -> &'static str {
    if shape.slicing != Slicing::Bit {
        return "";
    }
    "
/* Transposes a 64 x 64 bit matrix: bit i of word j becomes bit j of word i. */
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
"
}

fn table(name: &str, values: impl Iterator<Item = u32>) -> String {
    let values: Vec<String> = values.map(|v| v.to_string()).collect();
    let lines: Vec<String> = values.chunks(16).map(|c| format!("    {},", c.join(", "))).collect();
    format!("\nstatic const uint16_t {name}[{}] = {{\n{}\n}};\n", values.len(), lines.join("\n"))
}

/// `load_NAME` as a plain loop: loads the strings of a batch of blocks, one after another in memory,
/// into registers of the target.
pub fn load(field: &Field, shape: Shape) -> String {
    let (name, n, m, n_bytes) = (&field.name, field.n_words, field.word_bits, field.layout.n_bytes);
    let head = format!("\nstatic void load_{name}(reg *r, const uint8_t *in)\n{{\n");
    let position = table(&format!("position_of_{name}"), field.layout.position.iter().copied());
    let body = match shape.slicing {
        Slicing::Bit => {
            let (bits, chunks) = (n * m as usize, n_bytes.div_ceil(8));
            return table(&format!("register_of_{name}"), registers(field))
                + &head
                + &format!(
                    "    for (int g = 0; g < SLICES / 64; g++) {{
        for (int c = 0; c < {chunks}; c++) {{
            uint64_t a[64];
            for (int s = 0; s < 64; s++) {{
                const uint8_t *p = in + block_of_slice[64 * g + s] * {n_bytes};
                a[s] = 0;
                for (int i = 0; i < 8 && 8 * c + i < {n_bytes}; i++)
                    a[s] |= (uint64_t)p[8 * c + i] << (8 * i);
            }}
            transpose64(a);
            for (int i = 0; i < 64; i++)
                if (register_of_{name}[64 * c + i] < {bits})
                    memcpy((uint8_t *)&r[register_of_{name}[64 * c + i]] + 8 * g, &a[i], 8);
        }}
    }}
}}
"
                );
        }
        Slicing::Vertical => {
            "            lane x = 0;
            for (int i = 0; i < M; i++)
                x = (lane)(x << 1 | (p[position_of_NAME[M * j + i] >> 3] >> (7 - (position_of_NAME[M * j + i] & 7)) & 1));
            memcpy((uint8_t *)&r[j] + s * sizeof x, &x, sizeof x);
"
        }
        Slicing::Horizontal => {
            "            for (int i = 0; i < M; i++) {
                unsigned at = position_of_NAME[M * j + i], bit = (unsigned)(s / WIDTH * SPREAD + WIDTH * i + s % WIDTH);
                PUT_BIT;
            }
"
        }
    };
    let loops = format!(
        "    memset(r, 0, {n} * sizeof *r);
    for (int s = 0; s < SLICES; s++) {{
        const uint8_t *p = in + block_of_slice[s] * {n_bytes};
        for (int j = 0; j < {n}; j++) {{
{body}        }}
    }}
}}
"
    );
    position + &head + &filled(&loops, field, shape)
}

/// `store_NAME` as a plain loop, the inverse of `load_NAME`.
pub fn store(field: &Field, shape: Shape) -> String {
    let (name, n, m, n_bytes) = (&field.name, field.n_words, field.word_bits, field.layout.n_bytes);
    let head = format!("\nstatic void store_{name}(reg *r, uint8_t *out)\n{{\n");
    let position = table(&format!("position_of_{name}"), field.layout.position.iter().copied());
    let body = match shape.slicing {
        Slicing::Bit => {
            let (bits, chunks) = (n * m as usize, n_bytes.div_ceil(8));
            return table(&format!("register_of_{name}"), registers(field))
                + &head
                + &format!(
                    "    for (int g = 0; g < SLICES / 64; g++) {{
        for (int c = 0; c < {chunks}; c++) {{
            uint64_t a[64] = {{0}};
            for (int i = 0; i < 64; i++)
                if (register_of_{name}[64 * c + i] < {bits})
                    memcpy(&a[i], (const uint8_t *)&r[register_of_{name}[64 * c + i]] + 8 * g, 8);
            transpose64(a);
            for (int s = 0; s < 64; s++)
                for (int i = 0; i < 8 && 8 * c + i < {n_bytes}; i++)
                    out[block_of_slice[64 * g + s] * {n_bytes} + 8 * c + i] = (uint8_t)(a[s] >> (8 * i));
        }}
    }}
}}
"
                );
        }
        Slicing::Vertical => {
            "            lane x;
            memcpy(&x, (const uint8_t *)&r[j] + s * sizeof x, sizeof x);
            for (int i = 0; i < M; i++)
                p[position_of_NAME[M * j + i] >> 3] |= (uint8_t)((x >> (M - 1 - i) & 1) << (7 - (position_of_NAME[M * j + i] & 7)));
"
        }
        Slicing::Horizontal => {
            "            for (int i = 0; i < M; i++) {
                unsigned at = position_of_NAME[M * j + i], bit = (unsigned)(s / WIDTH * SPREAD + WIDTH * i + s % WIDTH);
                p[at >> 3] |= (uint8_t)((GET_BIT & 1) << (7 - (at & 7)));
            }
"
        }
    };
    let loops = format!(
        "    memset(out, 0, SLICES * {n_bytes});
    for (int s = 0; s < SLICES; s++) {{
        uint8_t *p = out + block_of_slice[s] * {n_bytes};
        for (int j = 0; j < {n}; j++) {{
{body}        }}
    }}
}}
"
    );
    position + &head + &filled(&loops, field, shape)
}

/// The register of each bit of the string, from the least significant of each byte; a number too
/// large if there is none.
fn registers(field: &Field) -> impl Iterator<Item = u32> + use<> {
    let mut register = vec![0xffff; field.layout.n_bytes.div_ceil(8) * 64];
    for (j, at) in field.layout.position.iter().enumerate() {
        register[(at ^ 7) as usize] = j as u32;
    }
    register.into_iter()
}

fn filled(text: &str, field: &Field, shape: Shape) -> String {
    let text = text.replace("NAME", &field.name).replace('M', &field.word_bits.to_string());
    match shape.slicing {
        Slicing::Horizontal => {
            let (put, get) = if shape.is_vector() {
                (
                    "((uint8_t *)&r[j])[bit >> 3] |= (uint8_t)((TAKEN & 1) << (bit & 7))",
                    "((const uint8_t *)&r[j])[bit >> 3] >> (bit & 7)",
                )
            } else {
                ("r[j] |= (reg)(TAKEN & 1) << bit", "r[j] >> bit")
            };
            let text = text
                .replace("PUT_BIT", put)
                .replace("GET_BIT", get)
                .replace("TAKEN", "p[at >> 3] >> (7 - (at & 7))");
            text.replace("WIDTH", &shape.element_bits().to_string())
                .replace("SPREAD", &shape.spread_bits().to_string())
        }
        Slicing::Bit | Slicing::Vertical => text,
    }
}

/// Hides from a compiler that a value is 0 or 1, so that it cannot turn a multiplication by it into
/// a branch, as clang did.
const HIDDEN: &str = "        __asm__(\"\" : \"+r\"(bit));\n";

/// `spread_NAME` puts one string into every slice.
pub fn spread(field: &Field, shape: Shape) -> String {
    let (name, n, m) = (
        &field.name,
        field.n_registers(shape),
        if shape.slicing == Slicing::Bit { 1 } else { field.word_bits },
    );
    let mut out = table(&format!("place_of_{name}"), field.layout.position.iter().copied());
    let _ = write!(
        out,
        "\nstatic void spread_{name}(reg *r, const uint8_t *p)\n{{\n    for (int j = 0; j < {n}; j++) {{\n"
    );
    let bit = |at: &str| {
        format!("p[place_of_{name}[{at}] >> 3] >> (7 - (place_of_{name}[{at}] & 7)) & 1")
    };
    out += &match shape.slicing {
        Slicing::Bit => {
            format!("        lane bit = {};\n{HIDDEN}        r[j] = SPLAT(0 - bit);\n", bit("j"))
        }
        Slicing::Vertical => format!(
            "        lane x = 0;\n        for (int i = 0; i < {m}; i++)\n            x = (lane)(x << 1 | ({}));\n        r[j] = SPLAT(x);\n",
            bit(&format!("{m} * j + i"))
        ),
        Slicing::Horizontal => {
            let (width, n_words) = (shape.element_bits(), shape.spread_bits() / 64);
            let element = if width == 64 { u64::MAX } else { (1 << width) - 1 };
            format!(
                "        uint64_t part[{n_words}] = {{0}};
        for (int i = 0; i < {m}; i++) {{
            uint64_t bit = {};
    {HIDDEN}            part[{width} * i / 64] |= ((0 - bit) & UINT64_C({element:#x})) << ({width} * i % 64);
        }}
        for (int k = 0; k < {}; k++)
            memcpy((uint8_t *)&r[j] + 8 * k, &part[k % {n_words}], 8);
",
                bit(&format!("{m} * j + i")),
                shape.register_bits() / 64
            )
        }
    };
    out + "    }\n}\n"
}
