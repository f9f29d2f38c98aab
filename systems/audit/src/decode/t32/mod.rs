//! T32: Thumb, with all of ARMv6-M, ARMv7-M and ARMv8-M, and what the A and R profiles have
//! besides.
//!
//! Decoding follows the encoding tables of the Arm Architecture Reference Manuals, DDI 0403
//! (ARMv7-M), DDI 0553 (ARMv8-M) and DDI 0406C (ARMv7-A and -R), chapters A5 and A6. Most words are
//! instructions of A32 with their fields elsewhere: they go on as such (`become_a32`), so that what
//! they read and write is said once. As there, a word that the manual calls unpredictable is
//! refused.
//!
//! A word alone does not say whether it is guarded, nor whether its 16 bits set flags: an `it`
//! before it does. [`Block`] is what is left of one. Vectors are NEON's; what MVE of ARMv8.1-M
//! shares with it is shown as such, the rest is refused.

mod control;
mod data;
mod memory;
mod narrow;

use super::a32::word::{INSIDE, Word};
use super::a32::{self, later_float};
use super::{Conventions, first};
use crate::decode::code::{Class, Instruction, Reg, Undecodable};

/// What the registers are for, by the procedure call standard of the Arm architecture.
pub const CONVENTIONS: Conventions = Conventions {
    frame_pointer: Some(Reg(7)),
    reserved: &[(a32::SP, "stack pointer"), (Reg(9), "platform register")],
    ..a32::CONVENTIONS
};

/// Why words are refused that name the stack pointer where it must not stand.
const NO_SP: &str = "unpredictable: the stack pointer cannot stand here";

/// What is left of a block that an `it` began: the condition of the next instruction above,
/// then a bit for each that follows and a 1 at the end (ITSTATE in the manual, A7.3.3 of
/// DDI 0403); 0 outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Block(u8);

impl Block {
    /// What is left behind the word at the beginning of `bytes`.
    pub fn behind(self, bytes: &[u8]) -> Block {
        match bytes {
            [low, 0xbf, ..] if low & 15 != 0 => Block(*low),
            _ if self.0 & 7 == 0 => Block(0),
            _ => Block(self.0 & 0xe0 | self.0 << 1 & 0x1f),
        }
    }

    fn is_open(self) -> bool {
        self.0 != 0
    }

    /// More instructions follow in the block.
    fn goes_on(self) -> bool {
        self.0 & 7 != 0
    }

    fn condition(self) -> u32 {
        if self.is_open() { u32::from(self.0 >> 4) } else { 14 }
    }
}

/// The length of the word at the beginning of `bytes`.
pub fn length(bytes: &[u8]) -> usize {
    if bytes.get(1).is_some_and(|byte| byte >> 3 > 0b11100) { 4 } else { 2 }
}

/// The instruction that `bytes` begins with, inside `block`.
pub fn decode(address: u64, bytes: &[u8], block: Block) -> Result<Instruction, Undecodable> {
    let half =
        |at: usize| bytes.get(at..).and_then(first::<2>).map(u16::from_le_bytes).map(u32::from);
    let halves = if length(bytes) == 2 {
        half(0)
    } else {
        half(0).zip(half(2)).map(|(high, low)| high << 16 | low)
    };
    let Some(bits) = halves else {
        let word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        return Err(Undecodable { address, word, why: "it is cut off".to_owned() });
    };
    let done = instruction(address, bits, length(bytes) as u8, block);
    done.map_err(|why| Undecodable { address, word: bits.into(), why: why.to_owned() })
}

fn instruction(
    address: u64,
    bits: u32,
    length: u8,
    block: Block,
) -> Result<Instruction, &'static str> {
    // Two branches have a condition of their own.
    let own = match length {
        2 if bits >> 12 == 0xd && bits >> 8 & 15 < 14 => Some(bits >> 8 & 15),
        4 if bits >> 27 == 0b11110 && bits & 0xd000 == 0x8000 && bits >> 22 & 15 < 14 => {
            Some(bits >> 22 & 15)
        }
        _ => None,
    };
    if own.is_some() && block.is_open() {
        return Err(INSIDE);
    }
    // A breakpoint stops whatever the condition says.
    let is_breakpoint = length == 2 && bits >> 8 == 0xbe;
    let condition = own.or(is_breakpoint.then_some(14)).unwrap_or(block.condition());
    let begun = Instruction::new(address, length, bits.into(), Class::Nop, String::new());
    let mut word = Word::guarded(begun, bits, condition, 4);
    if length == 2 {
        narrow::narrow(&mut word, block)?
    } else {
        wide(&mut word, block)?
    }
    let instruction = word.finish();
    // What goes elsewhere must end the block.
    if block.goes_on() && control::leaves(&instruction) {
        return Err(INSIDE);
    }
    Ok(instruction)
}

/// The words of 32 bits, the first half above.
fn wide(word: &mut Word, block: Block) -> Result<(), &'static str> {
    let op = word.field(20, 7);
    match word.field(27, 2) {
        1 if op & 0x64 == 0 => memory::multiple(word),
        1 if op & 0x64 == 4 => memory::dual_or_exclusive(word),
        1 if op & 0x60 == 0x20 => data::shifted(word),
        2 if word.bit(15) => control::branch_or_system(word, block),
        2 if op & 0x20 == 0 => data::modified_immediate(word),
        2 => data::plain_immediate(word),
        3 if op & 0x71 == 0 => memory::single(word),
        3 if op & 0x67 == 7 => Err(a32::word::UNDEFINED),
        3 if op & 0x61 == 1 => memory::single(word),
        3 if op & 0x71 == 0x10 => a32::vector_memory::structures(word),
        3 if op & 0x70 == 0x20 => data::registers(word),
        3 if op & 0x78 == 0x30 => data::multiply(word),
        3 if op & 0x78 == 0x38 => data::multiply_long(word),
        _ => coprocessor(word),
    }
}

/// The words of coprocessors, floating point and vectors: A32 has the same, after its condition.
fn coprocessor(word: &mut Word) -> Result<(), &'static str> {
    let has_no_condition = word.bit(28);
    word.align_pc();
    match word.field(24, 4) {
        // Its `U` stands four bits further on.
        15 => {
            let bits = word.all();
            word.become_a32(bits & 0x00ff_ffff | (bits >> 28 & 1) << 24);
            a32::vector::vector(word)
        }
        _ if !matches!(word.field(8, 4), 10 | 11) => {
            a32::control::coprocessor_work(word, if has_no_condition { "2" } else { "" })
        }
        _ if has_no_condition => later_float::unconditional(word),
        _ => later_float::float(word),
    }
}

/// Refuses the stack pointer and the program counter in any of these fields of four bits.
fn general(word: &Word, lows: &[u32]) -> Result<(), &'static str> {
    match lows.iter().map(|&low| word.field(low, 4)).find(|field| matches!(field, 13 | 15)) {
        Some(13) => Err(NO_SP),
        Some(_) => Err(a32::word::NO_PC),
        None => Ok(()),
    }
}
