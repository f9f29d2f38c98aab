//! AArch64: base instructions of version 8.0, with the checksums and the large-system atomics of
//! 8.1, and of later versions what changes the system's state, orders memory or signs pointers; not
//! transactions, 128-bit registers and 64-byte accesses.
//!
//! Source: Arm Architecture Reference Manual for A-profile, DDI 0487, chapters C4 (encodings) and
//! C6 (instructions). What the manual calls constrained unpredictable is refused.
//!
//! Floating point and vectors are [`Class::Float`]: their registers are exact, their values are not
//! followed. Halves are those of 8.2; what later versions have besides is refused.

mod authenticated;
mod control;
mod float;
mod immediate;
mod memory;
mod ordered;
mod register;
mod scalable;
mod system;
mod tags;
mod vector;

use super::build::{ALL, low_bits, refused, sign_extend};
use super::{Conventions, first};
use crate::decode::code::{
    Class, Extends, Instruction, Op, Operation, Out, Reg, Role, Shift, Undecodable, Value,
};

/// General registers by number, with the stack pointer as 31; flags; the zero register, which is
/// never read or written; the monitor of exclusive accesses; all system registers as one; the
/// status of floating point; the vector registers, of which [`ALL`] bits stand for all 128 or, of
/// scalable ones, all they have; and predicates.
const NAMES: [&str; 88] = [
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
    "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
    "x28", "x29", "x30", "sp", "n", "z", "c", "v", "xzr", "monitor", "system", "fpsr", "v0", "v1",
    "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
    "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
    "v29", "v30", "v31", "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11",
    "p12", "p13", "p14", "p15",
];

const N: Option<Reg> = Some(Reg(32));
const Z: Option<Reg> = Some(Reg(33));
const C: Option<Reg> = Some(Reg(34));
const V: Option<Reg> = Some(Reg(35));
const MONITOR: Option<Reg> = Some(Reg(37));
const SYSTEM: Option<Reg> = Some(Reg(38));
const FPSR: Option<Reg> = Some(Reg(39));
const V0: u32 = 40;
const P0: u32 = 72;

/// What the registers are for. Source: Procedure Call Standard for the Arm 64-bit
/// Architecture, 2023Q3, section 6.1.
pub(super) const CONVENTIONS: Conventions = Conventions {
    names: &NAMES,
    bits: 64,
    stack_pointer: Reg(31),
    frame_pointer: Some(Reg(29)),
    link: Some(Reg(30)),
    zero: Some(Reg(36)),
    // The eighth says where a structure is returned.
    arguments: &[Reg(0), Reg(1), Reg(2), Reg(3), Reg(4), Reg(5), Reg(6), Reg(7), Reg(8)],
    results: &[Reg(0), Reg(1)],
    saved: &[
        Reg(19),
        Reg(20),
        Reg(21),
        Reg(22),
        Reg(23),
        Reg(24),
        Reg(25),
        Reg(26),
        Reg(27),
        Reg(28),
        Reg(29),
        Reg(31),
    ],
    scratch: &[
        Reg(0),
        Reg(1),
        Reg(2),
        Reg(3),
        Reg(4),
        Reg(5),
        Reg(6),
        Reg(7),
        Reg(8),
        Reg(9),
        Reg(10),
        Reg(11),
        Reg(12),
        Reg(13),
        Reg(14),
        Reg(15),
        Reg(16),
        Reg(17),
        Reg(30),
        Reg(32),
        Reg(33),
        Reg(34),
        Reg(35),
    ],
    reserved: &[(Reg(18), "platform register")],
    flags: &[Reg(32), Reg(33), Reg(34), Reg(35)],
};

const CONDITIONS: [&str; 16] = [
    "eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al", "nv",
];
const SHIFTS: [(&str, Shift); 4] = [
    ("lsl", Shift::Left),
    ("lsr", Shift::Right),
    ("asr", Shift::RightSigned),
    ("ror", Shift::Rotate),
];
const EXTENSIONS: [&str; 8] = ["uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"];

/// The instruction at the beginning of `bytes`.
pub(super) fn decode(address: u64, bytes: &[u8]) -> Result<Instruction, Undecodable> {
    let Some(word) = first(bytes).map(u32::from_le_bytes) else {
        return refused(address, 0, "the code ends inside the instruction");
    };
    let it = A64Word { address, word };
    match it.field(28, 25) {
        8 | 9 => it.immediate_group(),
        10 | 11 => it.control_group(),
        4 | 6 | 12 | 14 => it.memory_group(),
        5 | 13 => it.register_group(),
        7 | 15 => it.float_group(),
        0 if word >> 16 == 0 => Ok(it
            .plain(Class::System, format!("udf #{word}"))
            .flows(crate::decode::code::Flow::Stop)),
        2 => it.scalable_group(),
        _ => it.refuse("the group is reserved"),
    }
}

struct A64Word {
    address: u64,
    word: u32,
}

/// General register `n`, where 31 is the zero register, so none.
fn reg(n: u32) -> Option<Reg> {
    (n != 31).then_some(Reg(n as u8))
}

/// General register `n`, where 31 is the stack pointer.
fn reg_sp(n: u32) -> Option<Reg> {
    Some(Reg(n as u8))
}

fn vector_reg(n: u32) -> Option<Reg> {
    Some(Reg((V0 + n) as u8))
}

fn value(n: u32) -> Value {
    reg(n).map_or(Value::Const(0), Value::Reg)
}

/// The name of register `n` at a width; 31 is the zero register.
fn name(n: u32, is_64: bool) -> String {
    match (n, is_64) {
        (31, true) => "xzr".to_owned(),
        (31, false) => "wzr".to_owned(),
        (_, true) => format!("x{n}"),
        (_, false) => format!("w{n}"),
    }
}

/// The same where 31 is the stack pointer.
fn name_sp(n: u32, is_64: bool) -> String {
    match (n, is_64) {
        (31, true) => "sp".to_owned(),
        (31, false) => "wsp".to_owned(),
        _ => name(n, is_64),
    }
}

impl A64Word {
    fn refuse<T>(&self, why: &str) -> Result<T, Undecodable> {
        refused(self.address, self.word.into(), why)
    }

    fn field(&self, high: u32, low: u32) -> u32 {
        self.word >> low & ((2_u64 << (high - low)) - 1) as u32
    }
    fn bit(&self, n: u32) -> bool {
        self.word >> n & 1 != 0
    }
    fn signed(&self, high: u32, low: u32) -> i64 {
        sign_extend(self.field(high, low).into(), high - low + 1)
    }
    fn rd(&self) -> u32 {
        self.field(4, 0)
    }
    fn rn(&self) -> u32 {
        self.field(9, 5)
    }
    fn rm(&self) -> u32 {
        self.field(20, 16)
    }
    /// Works on 64 bits; most groups have this at the top.
    fn is_64(&self) -> bool {
        self.bit(31)
    }
    /// Bits of the operation.
    fn width(&self) -> u32 {
        if self.is_64() { 64 } else { 32 }
    }
    /// All bits that the operation reads.
    fn all(&self) -> u64 {
        low_bits(self.width())
    }

    fn plain(&self, class: Class, text: String) -> Instruction {
        Instruction::new(self.address, 4, self.word.into(), class, text)
    }

    /// `op` at the width of this word; zeros above.
    fn operation(&self, op: Op, result: Option<Reg>, a: Value, b: Value) -> Operation {
        Operation { op, width: self.width() as u8, extends: Extends::Zero, result, a, b }
    }

    /// The address and `offset` words.
    fn target(&self, offset: i64) -> u64 {
        self.address.wrapping_add_signed(offset << 2)
    }
}

/// `it`, writing all four flags.
fn writes_flags(it: Instruction) -> Instruction {
    [N, Z, C, V].into_iter().fold(it, |it, flag| it.writes(flag, 1, Out::Flag))
}

/// `it`, reading the flags that condition number `cond` looks at.
fn reads_condition(it: Instruction, cond: u32) -> Instruction {
    let flags: &[Option<Reg>] = match cond >> 1 {
        0 => &[Z],
        1 => &[C],
        2 => &[N],
        3 => &[V],
        4 => &[C, Z],
        5 => &[N, V],
        6 => &[N, Z, V],
        _ => &[],
    };
    flags.iter().fold(it, |it, &flag| it.reads(flag, 1, Role::Condition))
}

/// The bits of a register that still matter once it is shifted by `amount`.
fn bits_of_shifted(width: u32, shift: Shift, amount: u32) -> u64 {
    let all = low_bits(width);
    match shift {
        Shift::Left => all >> amount,
        Shift::Right | Shift::RightSigned => all & (ALL << amount),
        Shift::Rotate => all,
    }
}
