//! A32: Arm's 32-bit instructions, ARMv4 to ARMv7.
//!
//! Decoding follows the encoding tables of the Arm Architecture Reference Manual (DDI 0100I for
//! ARMv6, DDI 0406C for what came later). A word that the manual calls
//! unpredictable is refused like an undefined one: what it would read or write cannot be said.
//!
//! The program counter is no register here. Where it is read, it is a constant, the address and
//! eight; where it is written, control goes elsewhere, which [`Flow`](crate::decode::code::Flow)
//! says.

pub mod control;
pub mod data;
pub mod float;
pub mod float_register;
pub mod later_float;
pub mod media;
pub mod memory;
pub mod multiply;
pub mod vector;
pub mod vector_memory;
mod vector_rows;
pub mod word;

use super::{Conventions, first};
use crate::decode::code::{Instruction, Reg, Undecodable};
use word::Word;

pub const FP: Reg = Reg(11);
pub const SP: Reg = Reg(13);
pub const LR: Reg = Reg(14);
pub const N: Reg = Reg(16);
pub const Z: Reg = Reg(17);
pub const C: Reg = Reg(18);
pub const V: Reg = Reg(19);
pub const Q: Reg = Reg(20);
pub const GE: [Reg; 4] = [Reg(21), Reg(22), Reg(23), Reg(24)];
/// What of the program status no flag above stands for: mode, masks, byte order.
pub const CPSR: Reg = Reg(25);
pub const SPSR: Reg = Reg(26);
/// All that coprocessors other than those of floating point keep: never
/// looked into, never reordered.
pub const COPROCESSOR: Reg = Reg(27);
/// The first of the 32 single registers.
pub const S0: u32 = 28;
pub const FPSCR: Reg = Reg(60);
/// The four flags of comparisons within FPSCR, as one register.
pub const FPFLAGS: Reg = Reg(61);
/// The first of the double registers that have no single ones.
pub const D16: u32 = 62;
pub const PC: u32 = 15;

/// What the registers are for, by the procedure call standard of the Arm architecture.
pub const CONVENTIONS: Conventions = Conventions {
    names: &[
        "r0",
        "r1",
        "r2",
        "r3",
        "r4",
        "r5",
        "r6",
        "r7",
        "r8",
        "r9",
        "r10",
        "r11",
        "ip",
        "sp",
        "lr",
        "pc",
        "N",
        "Z",
        "C",
        "V",
        "Q",
        "GE0",
        "GE1",
        "GE2",
        "GE3",
        "cpsr",
        "spsr",
        "coprocessor",
        "s0",
        "s1",
        "s2",
        "s3",
        "s4",
        "s5",
        "s6",
        "s7",
        "s8",
        "s9",
        "s10",
        "s11",
        "s12",
        "s13",
        "s14",
        "s15",
        "s16",
        "s17",
        "s18",
        "s19",
        "s20",
        "s21",
        "s22",
        "s23",
        "s24",
        "s25",
        "s26",
        "s27",
        "s28",
        "s29",
        "s30",
        "s31",
        "fpscr",
        "fpscr_nzcv",
        "d16",
        "d17",
        "d18",
        "d19",
        "d20",
        "d21",
        "d22",
        "d23",
        "d24",
        "d25",
        "d26",
        "d27",
        "d28",
        "d29",
        "d30",
        "d31",
    ],
    bits: 32,
    stack_pointer: SP,
    frame_pointer: Some(FP),
    link: Some(LR),
    zero: None,
    arguments: &[Reg(0), Reg(1), Reg(2), Reg(3)],
    results: &[Reg(0), Reg(1)],
    saved: &[Reg(4), Reg(5), Reg(6), Reg(7), Reg(8), Reg(9), Reg(10), Reg(11), SP],
    scratch: &[Reg(0), Reg(1), Reg(2), Reg(3), Reg(12), LR],
    reserved: &[(SP, "stack pointer"), (FP, "frame pointer"), (Reg(9), "platform register")],
    flags: &[N, Z, C, V, Q, GE[0], GE[1], GE[2], GE[3]],
};

/// The instruction that `bytes` begins with.
pub fn decode(address: u64, bytes: &[u8]) -> Result<Instruction, Undecodable> {
    let Some(bytes) = first::<4>(bytes) else {
        let word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        return Err(Undecodable { address, word, why: "it is cut off".to_owned() });
    };
    let bits = u32::from_le_bytes(bytes);
    let mut word = Word::new(address, bits);
    let done =
        if bits >> 28 == 15 { control::unconditional(&mut word) } else { conditional(&mut word) };
    match done {
        Ok(()) => Ok(word.finish()),
        Err(why) => Err(Undecodable { address, word: bits.into(), why: why.to_owned() }),
    }
}

/// The words whose highest four bits are a condition.
fn conditional(word: &mut Word) -> Result<(), &'static str> {
    let (op, op4, op7) = (word.field(25, 3), word.bit(4), word.bit(7));
    match op {
        0b000 if op4 && op7 => match word.field(5, 2) {
            0 if !word.bit(24) => multiply::multiply(word),
            0 => memory::exclusive(word),
            _ => memory::extra(word),
        },
        0b000 | 0b001 if word.field(23, 2) == 0b10 && !word.bit(20) => control::miscellaneous(word),
        0b000 | 0b001 => data::data_processing(word),
        0b010 => memory::single(word),
        0b011 if !op4 => memory::single(word),
        0b011 => media::media(word),
        0b100 => memory::multiple(word),
        0b101 => control::branch(word),
        0b110 | 0b111 if word.field(24, 4) != 15 && matches!(word.field(8, 4), 10 | 11) => {
            later_float::float(word)
        }
        _ => control::coprocessor(word),
    }
}
