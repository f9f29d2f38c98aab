//! How a register is written in C.

use std::fmt::Write;

use crate::options::Slicing;
use crate::target::Arch;

/// The elements of a vector, as this code counts them, lie in memory from the least significant.
const LITTLE_ONLY: &str = "#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error \"this code is for little-endian AArch64: on a big-endian one it would give other bytes\"
#endif
";

const BYTE_ORDER: &str = "
/* Numbers whose least or most significant byte lies first in memory. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LITTLE(bits, x) (x)
#define BIG(bits, x) __builtin_bswap##bits(x)
#elif __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LITTLE(bits, x) __builtin_bswap##bits(x)
#define BIG(bits, x) (x)
#else
#error \"this code is for little-endian and for big-endian processors\"
#endif
";

/// The registers of one target, slicing and word size.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub arch: Arch,
    pub slicing: Slicing,
    /// Bits of a word: 1 bitsliced, the lane vertically, the word horizontally.
    pub word_bits: u32,
    /// Batches of blocks that are interleaved.
    pub interleave: u32,
}

impl Shape {
    /// Bits of a register in this code; vertical code for general registers has one word in each.
    pub fn register_bits(&self) -> u32 {
        if self.slicing == Slicing::Vertical && !self.arch.is_vector() {
            self.word_bits
        } else {
            self.arch.register_bits()
        }
    }

    /// Blocks that a register holds.
    pub fn slices(&self) -> u32 {
        self.register_bits() / self.word_bits
    }

    /// Blocks that one call of the entry processes: those of a register in each of its batches.
    pub fn blocks(&self) -> u32 {
        self.slices() * self.interleave
    }

    /// `1 block`, `64 blocks`.
    pub fn blocks_text(&self) -> String {
        match self.blocks() {
            1 => "1 block".into(),
            n => format!("{n} blocks"),
        }
    }

    /// Registers are vectors of C lanes.
    pub fn is_vector(&self) -> bool {
        self.arch.is_vector()
    }

    /// Bits of one C lane: what `+` and `<<` work on.
    pub fn lane_bits(&self) -> u32 {
        if self.slicing == Slicing::Vertical { self.word_bits } else { 64 }
    }

    /// Bits of the part of a register that holds a horizontal word.
    pub fn spread_bits(&self) -> u32 {
        self.arch.register_bits().min(128)
    }

    /// Bits of one element of a horizontal word.
    pub fn element_bits(&self) -> u32 {
        self.spread_bits() / self.word_bits
    }

    /// The lines before the first function: includes, types, constants.
    pub fn prelude(&self) -> String {
        let mut out = String::from(if self.arch == Arch::Neon { LITTLE_ONLY } else { "" });
        out += "#include <stdint.h>\n#include <stddef.h>\n#include <string.h>\n";
        let bits = self.register_bits();
        let lane = self.lane_bits();
        out += match self.arch {
            Arch::X86_64 => "",
            Arch::Sse | Arch::Avx2 | Arch::Avx512vl | Arch::Avx512 => "#include <immintrin.h>\n",
            Arch::Neon => "#include <arm_neon.h>\n",
        };
        let batches = match self.interleave {
            1 => String::new(),
            n => format!(", {n} interleaved batches of {}", self.slices()),
        };
        out += &format!(
            "\n/* {} at a time: {bits}-bit registers, {}{batches}. */\n",
            self.blocks_text(),
            self.description()
        );
        out += &format!("typedef uint{lane}_t lane;\n");
        if self.is_vector() {
            out += &format!(
                "typedef lane reg __attribute__((vector_size({}), may_alias));\n",
                bits / 8
            );
            out +=
                &format!("typedef int{lane}_t sreg __attribute__((vector_size({})));\n", bits / 8);
            out += &format!(
                "typedef uint64_t reg64 __attribute__((vector_size({}), may_alias));\n",
                bits / 8
            );
            out += "#define SPLAT(x) ((reg){0} + (lane)(x))\n#define ZERO ((reg){0})\n#define ONES (~(reg){0})\n";
        } else {
            out += "typedef lane reg;\n";
            out += &format!("typedef int{lane}_t sreg;\n");
            out +=
                "#define SPLAT(x) ((reg)(x))\n#define ZERO ((reg)0)\n#define ONES ((reg)~(reg)0)\n";
        }
        out += &format!("#define SLICES {}\n", self.slices());
        out += &match self.interleave {
            1 => "#define BLOCKS SLICES\n".to_string(),
            n => format!("#define BLOCKS ({n} * SLICES)\n"),
        };
        if self.arch.has_ternary() {
            let v = format!("__m{bits}i");
            let _ = writeln!(
                out,
                "#define TERNARY(a, b, c, f) ((reg)_mm{bits}_ternarylogic_epi64(({v})(a), ({v})(b), ({v})(c), (f)))"
            );
        }
        out
    }

    /// A number of so many bits that was read from memory with its least significant byte first, or
    /// is to be written so. Vectors are for processors that do this anyway.
    pub fn little(&self, bits: u32, value: &str) -> String {
        if bits == 8 || self.is_vector() {
            value.into()
        } else {
            format!("LITTLE({bits}, {value})")
        }
    }

    /// The same with the most significant byte first.
    pub fn big(&self, bits: u32, value: &str) -> String {
        match bits {
            8 => value.into(),
            _ if self.is_vector() => format!("__builtin_bswap{bits}({value})"),
            _ => format!("BIG({bits}, {value})"),
        }
    }

    /// What [`Shape::little`] and [`Shape::big`] call.
    pub fn byte_order(&self) -> &'static str {
        if self.is_vector() { "" } else { BYTE_ORDER }
    }

    fn description(&self) -> String {
        match self.slicing {
            Slicing::Bit => "every bit in a register of its own".into(),
            Slicing::Vertical => format!("a {}-bit word in each lane", self.word_bits),
            Slicing::Horizontal => {
                format!(
                    "bit i of a {}-bit word, from the most significant, in element i of {} bits",
                    self.word_bits,
                    self.element_bits()
                )
            }
        }
    }
}
