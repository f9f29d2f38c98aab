//! SPARC V8, with the additions of LEON3 (`umac`, `smac`, `casa`).
//!
//! Source: The SPARC Architecture Manual, Version 8, appendices B (instructions) and C (integer
//! operations); the additions: GRLIB IP Core User's Manual, chapter "LEON3".

mod arithmetic;
mod control;
mod float;
mod memory;

use super::build::{low_bits, number, refused, sign_extend};
use super::{Conventions, first};
use crate::decode::code::{Class, Instruction, Out, Reg, Role, Undecodable, Value};

/// General registers by number; flags; then `%y`, `%psr` without its flags, `%wim`, `%tbr`,
/// all ancillary registers as one, the condition of floating-point branches, `%fsr` without
/// it; and the floating-point registers.
const NAMES: [&str; 75] = [
    "%g0", "%g1", "%g2", "%g3", "%g4", "%g5", "%g6", "%g7", "%o0", "%o1", "%o2", "%o3", "%o4",
    "%o5", "%sp", "%o7", "%l0", "%l1", "%l2", "%l3", "%l4", "%l5", "%l6", "%l7", "%i0", "%i1",
    "%i2", "%i3", "%i4", "%i5", "%fp", "%i7", "n", "z", "v", "c", "%y", "%psr", "%wim", "%tbr",
    "%asr", "fcc", "%fsr", "%f0", "%f1", "%f2", "%f3", "%f4", "%f5", "%f6", "%f7", "%f8", "%f9",
    "%f10", "%f11", "%f12", "%f13", "%f14", "%f15", "%f16", "%f17", "%f18", "%f19", "%f20", "%f21",
    "%f22", "%f23", "%f24", "%f25", "%f26", "%f27", "%f28", "%f29", "%f30", "%f31",
];

const N: Option<Reg> = Some(Reg(32));
const Z: Option<Reg> = Some(Reg(33));
const V: Option<Reg> = Some(Reg(34));
const C: Option<Reg> = Some(Reg(35));
pub(crate) const Y: Option<Reg> = Some(Reg(36));
pub(crate) const PSR: Option<Reg> = Some(Reg(37));
pub(crate) const WIM: Option<Reg> = Some(Reg(38));
pub(crate) const TBR: Option<Reg> = Some(Reg(39));
const ASR: Option<Reg> = Some(Reg(40));
const FCC: Option<Reg> = Some(Reg(41));
const FSR: Option<Reg> = Some(Reg(42));
/// The first floating-point register.
const F0: u32 = 43;

/// All bits of a register.
const ALL: u64 = 0xffff_ffff;
/// The flags within `%psr`, which are registers of their own here.
const PSR_BITS: u64 = ALL & !(0xf << 20);
/// The current window within `%psr`.
const CWP_BITS: u64 = 31;

const OUTS: std::ops::Range<u8> = 8..16;
const INS: std::ops::Range<u8> = 24..32;

/// What the registers are for. Source: SPARC V8, appendix D; System V ABI, SPARC supplement.
pub(super) const CONVENTIONS: Conventions = Conventions {
    names: &NAMES,
    bits: 32,
    stack_pointer: Reg(14),
    frame_pointer: Some(Reg(30)),
    link: Some(Reg(15)),
    zero: Some(Reg(0)),
    arguments: &[Reg(8), Reg(9), Reg(10), Reg(11), Reg(12), Reg(13)],
    results: &[Reg(8), Reg(9)],
    saved: &[
        Reg(14),
        Reg(16),
        Reg(17),
        Reg(18),
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
        Reg(30),
        Reg(31),
    ],
    scratch: &[
        Reg(1),
        Reg(2),
        Reg(3),
        Reg(4),
        Reg(8),
        Reg(9),
        Reg(10),
        Reg(11),
        Reg(12),
        Reg(13),
        Reg(15),
        Reg(32),
        Reg(33),
        Reg(34),
        Reg(35),
        Reg(36),
    ],
    reserved: &[(Reg(5), "system"), (Reg(6), "system"), (Reg(7), "thread pointer")],
    flags: &[Reg(32), Reg(33), Reg(34), Reg(35)],
};

/// The instruction at the beginning of `bytes`.
pub(super) fn decode(address: u64, bytes: &[u8]) -> Result<Instruction, Undecodable> {
    let Some(word) = first(bytes).map(u32::from_be_bytes) else {
        return refused(address, 0, "the code ends inside the instruction");
    };
    let it = SparcWord { address, word };
    match word >> 30 {
        0 => it.branch_or_sethi(),
        1 => Ok(it.call()),
        2 => match it.op3() {
            0x34 | 0x35 => it.float(),
            0x36 | 0x37 => it.refuse("there is no coprocessor"),
            0x38..=0x3d => it.control(),
            _ => it.arithmetic(),
        },
        _ => it.memory(),
    }
}

struct SparcWord {
    address: u64,
    word: u32,
}

/// General register `n`; `%g0` is none.
fn reg(n: u32) -> Option<Reg> {
    (n != 0).then_some(Reg(n as u8))
}

fn value(n: u32) -> Value {
    reg(n).map_or(Value::Const(0), Value::Reg)
}

fn name(n: u32) -> &'static str {
    NAMES[n as usize]
}

impl SparcWord {
    fn refuse<T>(&self, why: &str) -> Result<T, Undecodable> {
        refused(self.address, self.word.into(), why)
    }

    fn rd(&self) -> u32 {
        self.word >> 25 & 31
    }
    fn rs1(&self) -> u32 {
        self.word >> 14 & 31
    }
    fn rs2(&self) -> u32 {
        self.word & 31
    }
    fn op3(&self) -> u32 {
        self.word >> 19 & 63
    }
    fn is_immediate(&self) -> bool {
        self.word >> 13 & 1 != 0
    }
    fn immediate(&self) -> i64 {
        sign_extend((self.word & 0x1fff).into(), 13)
    }

    /// The second operand: a register or a constant.
    fn operand(&self) -> Value {
        if self.is_immediate() { Value::Const(self.immediate() as u64) } else { value(self.rs2()) }
    }

    fn operand_text(&self) -> String {
        if self.is_immediate() { number(self.immediate()) } else { name(self.rs2()).to_owned() }
    }

    /// `rs1 + rs2` or `rs1 + immediate`, as short as possible.
    fn sum_text(&self) -> String {
        match (self.rs1(), self.is_immediate(), self.immediate()) {
            (0, true, offset) => number(offset),
            (rs1, true, 0) => name(rs1).to_owned(),
            (rs1, true, offset) if offset < 0 => format!("{}{}", name(rs1), number(offset)),
            (rs1, true, offset) => format!("{}+{}", name(rs1), number(offset)),
            (0, false, _) => name(self.rs2()).to_owned(),
            (rs1, false, _) if self.rs2() == 0 => name(rs1).to_owned(),
            (rs1, false, _) => format!("{}+{}", name(rs1), name(self.rs2())),
        }
    }

    fn plain(&self, class: Class, text: String) -> Instruction {
        Instruction::new(self.address, 4, self.word.into(), class, text)
    }

    /// `it`, reading `bits` of the second operand too if that is a register.
    fn reads_operand(&self, it: Instruction, bits: u64, role: Role) -> Instruction {
        let rs2 = if self.is_immediate() { None } else { reg(self.rs2()) };
        it.reads(rs2, bits, role)
    }
}

/// `it`, writing all four flags.
fn writes_flags(it: Instruction) -> Instruction {
    [N, Z, V, C].into_iter().fold(it, |it, flag| it.writes(flag, 1, Out::Flag))
}

/// `it`, in the next window: the old outs become the new ins (`is_save`), or the other way round.
/// What is then in the other registers depends on who had the window before.
fn rotates(it: Instruction, is_save: bool, rd: u32) -> Instruction {
    let (from, to) = if is_save { (OUTS, INS) } else { (INS, OUTS) };
    let mut it = it;
    for n in from {
        it = it.reads(Some(Reg(n)), ALL, Role::Carried);
    }
    let fresh = if is_save { 8..24_u8 } else { 16..32_u8 };
    for n in to.chain(fresh).filter(|&n| u32::from(n) != rd) {
        it = it.writes(Some(Reg(n)), ALL, Out::Carried);
    }
    it.reads(PSR, CWP_BITS, Role::Carried).reads(WIM, ALL, Role::Carried).writes(
        PSR,
        CWP_BITS,
        Out::Carried,
    )
}

/// Of a result that is shown as 32 bits, those that a constant of 13 bits leaves open under `and`.
fn mask_of(constant: i64) -> u64 {
    constant as u64 & low_bits(32)
}
