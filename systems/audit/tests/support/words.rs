//! Words for decoders: random ones with a seed, biased so that rare forms turn up, and those of
//! real object files.

use audit::decode::Isa;
use fastrand::Rng;

/// The bytes of one random instruction of `isa`, in the order of memory.
pub fn random(isa: Isa, rng: &mut Rng) -> Vec<u8> {
    match isa {
        Isa::Riscv32 | Isa::Riscv64 => riscv(rng),
        Isa::Sparc => sparc(rng).to_be_bytes().to_vec(),
        Isa::A64 => a64(rng).to_le_bytes().to_vec(),
        Isa::A32 => a32(rng).to_le_bytes().to_vec(),
        Isa::T32 => t32(rng),
        Isa::X86 => (0..15).map(|_| rng.u8(..)).collect(),
    }
}

/// `word` with some fields of `width` bits at `places` set to a value that is special in assembly
/// language: 0, all ones, or the same register twice.
fn with_special_fields(mut word: u32, width: u32, places: &[u32], rng: &mut Rng) -> u32 {
    let ones = (1 << width) - 1;
    for &place in places {
        let value = match rng.u8(..8) {
            0 => 0,
            1 => ones,
            2 => word >> places[0] & ones,
            3 => 1,
            _ => continue,
        };
        word = word & !(ones << place) | value << place;
    }
    word
}

fn riscv(rng: &mut Rng) -> Vec<u8> {
    if rng.u8(..3) == 0 {
        let half = rng.u16(..) & !3 | rng.u16(..3);
        return half.to_le_bytes().to_vec();
    }
    const OPCODES: [u32; 20] = [
        0x37, 0x17, 0x6f, 0x67, 0x63, 0x03, 0x23, 0x13, 0x1b, 0x33, 0x3b, 0x2f, 0x73, 0x07, 0x27,
        0x43, 0x47, 0x4b, 0x4f, 0x53,
    ];
    let mut word = rng.u32(..) | 3;
    if rng.u8(..8) != 0 {
        word = word & !0x7f | OPCODES[rng.usize(..OPCODES.len())];
    }
    word = with_special_fields(word, 5, &[7, 15, 20], rng);
    // Of register forms only few upper fields mean something.
    if rng.bool() {
        const UPPER: [u32; 14] =
            [0, 1, 0x20, 9, 0x10, 0x04, 0x05, 0x30, 0x24, 0x34, 0x14, 0x07, 0x06, 0x35];
        word = word & !(0x7f << 25) | UPPER[rng.usize(..UPPER.len())] << 25;
    }
    if word & 0x7f == 0x53 {
        word = word & !(3 << 25) | rng.u32(..2) << 25;
    }
    word.to_le_bytes().to_vec()
}

fn sparc(rng: &mut Rng) -> u32 {
    let word = with_special_fields(rng.u32(..), 5, &[25, 14, 0], rng);
    if rng.u8(..8) == 0 {
        // A floating-point operation; most codes are reserved.
        return word & !(3 << 30 | 63 << 19 | 1 << 13) | 2 << 30 | rng.u32(0x34..0x36) << 19;
    }
    if word >> 30 == 3 && word >> 23 & 3 == 1 && rng.bool() {
        // An alternate space, here that of data.
        return word & !(0x1ff << 5) | 11 << 5;
    }
    // The field between the operands is unused without an immediate, and must be 0.
    if word >> 30 >= 2 && word >> 13 & 1 == 0 && rng.u8(..8) != 0 {
        word & !(0xff << 5)
    } else {
        word
    }
}

/// A word of AArch64's floating point on halves, of scalars and of vectors.
pub fn half_a64(rng: &mut Rng) -> u32 {
    let word = with_special_fields(rng.u32(..), 5, &[0, 5, 16, 10], rng);
    // Scalars; vectors with three registers, with one, across, pairs; by an element; constants;
    // shifts. What is fixed of each, and its value.
    const KINDS: [(u32, u32); 8] = [
        (0x7f20_0000, 0x1e20_0000),
        (0x7f00_0000, 0x1f00_0000),
        (0x8f60_c400, 0x0e40_0400),
        (0x8f7e_0c00, 0x0e78_0800),
        (0x8f3e_0c00, 0x0e30_0800),
        (0x8fc0_0400, 0x0f00_0000),
        (0x9ff8_0c00, 0x0f00_0c00),
        (0x8ff0_0400, 0x0f10_0400),
    ];
    let (fixed, value) = KINDS[rng.usize(..KINDS.len())];
    let word = word & !fixed | value;
    // The width of scalars.
    if value >> 24 >= 0x1e && value >> 24 & 0x1e == 0x1e { word | 3 << 22 } else { word }
}

/// A word of AArch64's memory tags, or of what copies memory with scalable vectors.
pub fn later_a64(rng: &mut Rng) -> u32 {
    let word = with_special_fields(rng.u32(..), 5, &[0, 5, 16], rng);
    // What is fixed of each, and its value.
    const KINDS: [(u32, u32); 14] = [
        (0xbfc0_c000, 0x9180_0000),
        (0xdfe0_e800, 0x9ac0_0000),
        (0xff20_0000, 0xd920_0000),
        (0xfe40_0000, 0x6800_0000),
        (0xfe10_e000, 0xa400_a000),
        (0xfe00_e000, 0xa400_4000),
        (0xfe10_e000, 0xe400_e000),
        (0xfe00_e000, 0xe400_4000),
        (0xff20_e400, 0x2520_0400),
        (0xff3e_fc10, 0x2518_e000),
        (0xff20_f800, 0x0420_e000),
        (0xff3f_fc00, 0x0520_3800),
        (0xffa0_f800, 0x0420_5000),
        (0xffff_f800, 0x04bf_5000),
    ];
    let (fixed, value) = KINDS[rng.usize(..KINDS.len())];
    word & !fixed | value
}

fn a64(rng: &mut Rng) -> u32 {
    let mut word = with_special_fields(rng.u32(..), 5, &[0, 5, 16, 10], rng);
    match rng.u8(..16) {
        // System registers; hints and barriers; scalar floating point; vectors, their structures in
        // memory.
        0 => return word & !(0x3ff << 22) | 0b11_0101_0100 << 22,
        1 => return word & !(0xfff << 20) & !(0xfc << 12) | 0xd50 << 20 | rng.u32(..64) << 12 | 31,
        2 => {
            return word & !(0xff << 24 | 1 << 23)
                | 0x1e << 24
                | rng.u32(..2) << 24
                | rng.u32(..2) << 31;
        }
        3..6 => return word & !(0xf << 25 | 1 << 31) | [7, 15][rng.usize(..2)] << 25,
        7 | 8 => return half_a64(rng),
        6 => return word & !(0x1f << 25 | 1 << 31) | 6 << 25 & !(1 << 31),
        _ => {}
    }
    // Most of the space is vectors and floating point; the base instructions come more often.
    if rng.u8(..4) != 0 {
        const GROUPS: [u32; 8] = [8, 9, 10, 11, 5, 13, 4, 12];
        word = word & !(15 << 25) | GROUPS[rng.usize(..8)] << 25;
        if word >> 25 & 5 == 4 {
            word &= !(1 << 26);
        }
    }
    word
}

/// A word of A32's vectors: operations, structures in memory, moves of elements.
pub fn vector_a32(rng: &mut Rng) -> u32 {
    let word = with_special_fields(rng.u32(..), 4, &[12, 16, 0], rng);
    match rng.u8(..8) {
        0 => word & 0x00ef_ffff | 0xf400_0000,
        1 => word & 0x00ff_ff7f & !0x60f | 0xee00_0b10 | 0x60 & word,
        // Few words have all their registers even, which those of four words need.
        2..5 => word & 0x01ff_ffff & !(0x1 << 12) & !(1 << 16) & !1 | 0xf200_0000,
        _ => word & 0x01ff_ffff | 0xf200_0000,
    }
}

/// The same in Thumb, the first half above.
pub fn vector_t32(rng: &mut Rng) -> u32 {
    let word = vector_a32(rng);
    match word >> 24 {
        0xf4 => word & 0x00ff_ffff | 0xf900_0000,
        0xee => word,
        _ => word & 0x00ff_ffff | 0xef00_0000 | (word >> 24 & 1) << 28,
    }
}

fn a32(rng: &mut Rng) -> u32 {
    if rng.u8(..6) == 0 {
        return vector_a32(rng);
    }
    let mut word = with_special_fields(rng.u32(..), 4, &[12, 16, 0, 8], rng);
    if rng.bool() {
        word = word & !(15 << 28) | 14 << 28;
    }
    // Floating point; of its two rows one, and of the codes of one operand those that are not
    // reserved.
    if rng.u8(..6) == 0 {
        word = word & !(7 << 25 | 7 << 9) | rng.u32(6..8) << 25 | 5 << 9;
        if rng.bool() {
            word = word & !(0x1f << 24 | 1 << 4 | 0xb << 20) | 0xe << 24 | 0xb << 20;
        }
    }
    word
}

fn t32(rng: &mut Rng) -> Vec<u8> {
    if rng.u8(..4) == 0 {
        return rng.u16(..0xe800).to_le_bytes().to_vec();
    }
    let in_memory = |word: u32| {
        [(word >> 16) as u16, word as u16]
            .iter()
            .flat_map(|pair| pair.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    if rng.u8(..8) == 0 {
        return in_memory(vector_t32(rng));
    }
    // The first half above.
    const GROUPS: [u32; 14] =
        [0xe8, 0xe9, 0xea, 0xeb, 0xf0, 0xf1, 0xf2, 0xf3, 0xf8, 0xf9, 0xfa, 0xfb, 0xed, 0xee];
    let mut word = with_special_fields(rng.u32(..) | 0xe800_0000, 4, &[16, 0, 8, 12], rng);
    if rng.u8(..8) != 0 {
        word = word & 0x00ff_ffff | GROUPS[rng.usize(..GROUPS.len())] << 24;
    }
    // Most words with the stack pointer or the program counter are unpredictable.
    for low in [16, 12, 8, 0] {
        if rng.u8(..4) != 0 && matches!(word >> low & 15, 13 | 15) {
            word ^= 1 << (low + 3);
        }
    }
    match word >> 24 {
        // Immediates, and not branches.
        0xf0..=0xf3 if rng.u8(..4) != 0 => word &= !0x8000,
        0xf3 if rng.bool() => {
            word = word & !0x005f_d000
                | 0x0020_8000
                | rng.u32(..8) << 20
                | rng.u32(..2) << 16
                | 0x000e_0000
        }
        0xfa => word |= 0xf000,
        // Quotients, and products with one result.
        0xfb if rng.u8(..4) == 0 => word = 0xfb90_f0f0 | word & 0x002f_0f0f,
        0xfb if rng.bool() => word &= !0xc0,
        // Exclusive and ordered accesses.
        0xe8 if rng.u8(..3) == 0 => word = 0xe8c0_0f00 | word & 0x001f_f0f0 | rng.u32(..16),
        0xe8 if rng.u8(..8) == 0 => {
            word = 0xe840_0000 | word & 0x001f_ffff | (0xf00 * rng.u32(..2))
        }
        0xf8 | 0xf9 if rng.bool() => word &= !0x7c0,
        0xec..=0xee | 0xfc..=0xfe if rng.bool() => {
            word = word & !0xe00 | 0xa00;
            if rng.bool() {
                word = word & !0x00b0_0000 | 0x0eb0_0040;
                word &= !0x10;
            }
        }
        _ => {}
    }
    in_memory(word)
}
