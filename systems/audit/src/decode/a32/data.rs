//! Data processing: sixteen operations, the second operand an immediate or shifted.

use super::word::{ALL, FIXED, NO_PC, Word, name};
use super::{C, CPSR, GE, LR, N, Q, SPSR, V, Z};
use crate::decode::code::{Class, Flow, Op, Out, Reg, Role, Shift, Value};

/// By opcode; the last one is Thumb's alone.
const NAMES: [&str; 17] = [
    "and", "eor", "sub", "rsb", "add", "adc", "sbc", "rsc", "tst", "teq", "cmp", "cmn", "orr",
    "mov", "bic", "mvn", "orn",
];
/// The opcode of Thumb's `orn`.
pub const ORN: u32 = 16;

pub enum Second {
    /// A constant; the bit that moves into C, unless the rotation is by nothing.
    Immediate { value: u32, text: String, carries: bool },
    /// A register as it is.
    Plain,
    /// A register shifted by a constant from 1 to 32.
    Shifted(Shift, u8),
    /// A register and C as 33 bits, rotated by one.
    WithCarry,
    /// A register shifted by another.
    ByRegister(Shift, Reg),
}

/// What an operation does to the flags.
#[derive(PartialEq, Eq, Clone, Copy)]
enum DataKind {
    Logical,
    Arithmetic,
}

/// Decodes any of the sixteen.
pub fn data_processing(word: &mut Word) -> Result<(), &'static str> {
    let opcode = word.field(21, 4);
    let is_comparison = (8..12).contains(&opcode);
    let is_move = opcode == 13 || opcode == 15;
    // Bits 12 to 15 of a comparison, 16 to 19 of a move, should be zero.
    if is_comparison && word.field(12, 4) != 0 || is_move && word.field(16, 4) != 0 {
        return Err(FIXED);
    }
    let second = second_operand(word)?;
    if matches!(second, Second::ByRegister(..))
        && [0, 12, 16].iter().any(|&low| word.field(low, 4) == 15)
    {
        return Err(NO_PC);
    }
    compute(word, opcode, &second, word.bit(20));
    Ok(())
}

/// The operation of this number on the registers in the fields of A32 and `second`.
pub fn compute(word: &mut Word, opcode: u32, second: &Second, sets_flags: bool) {
    let is_comparison = (8..12).contains(&opcode);
    let kind = if matches!(opcode, 0 | 1 | 8 | 9 | 12..=ORN) {
        DataKind::Logical
    } else {
        DataKind::Arithmetic
    };
    word.set_class(match second {
        Second::Immediate { .. } | Second::Plain => Class::Alu,
        Second::Shifted(..) | Second::WithCarry => Class::AluShiftImm,
        Second::ByRegister(..) => Class::AluShiftReg,
    });

    let carries = match second {
        Second::Immediate { carries, .. } => *carries,
        Second::Plain => false,
        Second::Shifted(..) | Second::WithCarry | Second::ByRegister(..) => true,
    };
    let writes_carry = sets_flags && (kind == DataKind::Arithmetic || carries);
    reads(word, opcode, second, sets_flags && kind == DataKind::Logical && carries);
    if !is_comparison {
        match word.reg_or_pc(12) {
            Some(reg) => word.write(reg, Out::Result),
            None => jump(word, opcode, second, sets_flags),
        }
    }
    if sets_flags && (is_comparison || word.field(12, 4) != 15) {
        word.write_flags(&[N, Z]);
        if writes_carry {
            word.write_flags(&[C]);
        }
        if kind == DataKind::Arithmetic {
            word.write_flags(&[V]);
        }
    }
    operation(word, opcode, second);
    text(word, opcode, second, sets_flags && !is_comparison);
}

/// `movw` and `movt`: sixteen bits, the others become 0 or stay.
pub fn half(word: &mut Word, rd: Reg, value: u32, is_upper: bool) {
    word.set_class(Class::Constant);
    if is_upper {
        word.write_bits(rd, Out::Result, 0xffff_0000);
    } else {
        word.write(rd, Out::Result);
        word.computes(Op::Move, Some(rd), Value::Const(value.into()), Value::Const(0));
    }
    word.text(if is_upper { "movt" } else { "movw" }, &format!("{}, #{value}", name(rd.0.into())));
}

fn second_operand(word: &Word) -> Result<Second, &'static str> {
    if word.bit(25) {
        let (rotation, byte) = (word.field(8, 4) * 2, word.field(0, 8));
        let value = byte.rotate_right(rotation);
        // One value may have several encodings; the assembler takes the smallest rotation.
        let smallest = (0..16).map(|idx| idx * 2).find(|&it| value.rotate_left(it) <= 0xff);
        let is_usual = smallest == Some(rotation);
        let text = if is_usual { format!("#{value}") } else { format!("#{byte}, #{rotation}") };
        return Ok(Second::Immediate { value, text, carries: rotation != 0 });
    }
    let shift =
        [Shift::Left, Shift::Right, Shift::RightSigned, Shift::Rotate][word.field(5, 2) as usize];
    if word.bit(4) {
        return Ok(Second::ByRegister(shift, word.reg(8)?));
    }
    Ok(match shift_by_constant(word) {
        None => Second::WithCarry,
        Some((Shift::Left, 0)) => Second::Plain,
        Some((shift, by)) => Second::Shifted(shift, by),
    })
}

/// The shift in bits 5 to 11; `None` is the rotation through C.
pub fn shift_by_constant(word: &Word) -> Option<(Shift, u8)> {
    let by = word.field(7, 5) as u8;
    match (word.field(5, 2), by) {
        (0, by) => Some((Shift::Left, by)),
        (1, 0) => Some((Shift::Right, 32)),
        (1, by) => Some((Shift::Right, by)),
        (2, 0) => Some((Shift::RightSigned, 32)),
        (2, by) => Some((Shift::RightSigned, by)),
        (_, 0) => None,
        (_, by) => Some((Shift::Rotate, by)),
    }
}

/// The name of a shift.
pub fn shift_name(shift: Shift) -> &'static str {
    match shift {
        Shift::Left => "lsl",
        Shift::Right => "lsr",
        Shift::RightSigned => "asr",
        Shift::Rotate => "ror",
    }
}

/// The bits of a register that are left after a shift; with the one that goes to the carry.
fn shifted_bits(shift: Shift, by: u8, with_carry: bool) -> u64 {
    let by = u32::from(by);
    let (kept, carry) = match shift {
        Shift::Left => (ALL >> by, 1u64 << (32 - by)),
        Shift::Right => (ALL << by & ALL, 1u64 << (by - 1)),
        // The sign is always left.
        Shift::RightSigned => ((ALL << by | 1 << 31) & ALL, 1u64 << (by - 1)),
        Shift::Rotate => (ALL, 0),
    };
    if with_carry { kept | carry } else { kept }
}

fn reads(word: &mut Word, opcode: u32, second: &Second, with_carry: bool) {
    // Of the first operand: only what an immediate lets through.
    let first_bits = match (opcode, second) {
        (0 | 8 | ORN, Second::Immediate { value, .. }) => u64::from(*value),
        (12 | 14, Second::Immediate { value, .. }) => u64::from(!*value),
        _ => ALL,
    };
    let first_is_read = opcode != 13 && opcode != 15;
    if let (true, Some(reg)) = (first_is_read, word.reg_or_pc(16)) {
        word.read_bits(reg, Role::Source, first_bits);
    }
    let rm = word.reg_or_pc(0);
    match (second, rm) {
        (Second::Plain, Some(reg)) => word.read(reg, Role::Source),
        (Second::Shifted(shift, by), Some(reg)) => {
            word.read_bits(reg, Role::Shifted, shifted_bits(*shift, *by, with_carry))
        }
        (Second::WithCarry, Some(reg)) => {
            word.read_bits(reg, Role::Shifted, if with_carry { ALL } else { ALL & !1 });
            word.read_flag(C);
        }
        (Second::ByRegister(_, by), Some(reg)) => {
            word.read(reg, Role::Shifted);
            word.read_bits(*by, Role::Amount, 0xff);
            // A shift by nothing leaves C as it was.
            if with_carry {
                word.read_flag(C);
            }
        }
        (Second::WithCarry, None) => word.read_flag(C),
        (Second::Immediate { .. }, _) | (_, None) => {}
    }
    if matches!(opcode, 5..=7) {
        word.read_flag(C);
    }
}

/// The result goes to the program counter.
fn jump(word: &mut Word, opcode: u32, second: &Second, sets_flags: bool) {
    let is_plain_move = opcode == 13 && matches!(second, Second::Plain);
    word.set_class(Class::Jump);
    if is_plain_move && word.reg_or_pc(0) == Some(LR)
        || opcode == 2 && sets_flags && word.reg_or_pc(16) == Some(LR)
    {
        word.set_class(Class::Return);
        word.set_flow(Flow::Return);
    } else {
        word.set_flow(Flow::Jump);
    }
    if sets_flags {
        // An exception returns: the whole status comes back.
        word.read(SPSR, Role::Source);
        word.write(CPSR, Out::Result);
        word.write_flags(&[N, Z, C, V, Q, GE[0], GE[1], GE[2], GE[3]]);
        word.set_flow(Flow::Resume);
    }
}

fn operation(word: &mut Word, opcode: u32, second: &Second) {
    let rm = word.value(0);
    let b = match (second, rm) {
        (Second::Immediate { value, .. }, _) => Value::Const(i64::from(*value as i32) as u64),
        (Second::Plain, rm) => rm,
        (Second::Shifted(shift, by), Value::Reg(reg)) => Value::Shifted(reg, *shift, *by),
        // A shift by a register counts the low eight bits of it, which no operation says.
        _ => return,
    };
    let a = word.value(16);
    let result = word.reg_or_pc(12);
    let (op, result, a, b) = match opcode {
        0 => (Op::And, result, a, b),
        1 => (Op::Xor, result, a, b),
        2 => (Op::Sub, result, a, b),
        3 => (Op::ReverseSub, result, a, b),
        4 => (Op::Add, result, a, b),
        8 => (Op::Test, None, a, b),
        9 => (Op::TestEqual, None, a, b),
        10 => (Op::Compare, None, a, b),
        11 => (Op::CompareNegative, None, a, b),
        12 => (Op::Or, result, a, b),
        13 => match b {
            Value::Shifted(reg, shift, by) => {
                (Op::Shift(shift), result, Value::Reg(reg), Value::Const(by.into()))
            }
            Value::Reg(_) | Value::Const(_) | Value::Extended(..) => {
                (Op::Move, result, b, Value::Const(0))
            }
        },
        14 => (Op::AndNot, result, a, b),
        15 => (Op::Not, result, b, Value::Const(0)),
        ORN => (Op::OrNot, result, a, b),
        // With carry.
        _ => return,
    };
    word.computes(op, result, a, b);
}

fn text(word: &mut Word, opcode: u32, second: &Second, shows_s: bool) {
    let s = if shows_s { "s" } else { "" };
    let (rd, rn, rm) = (name(word.field(12, 4)), name(word.field(16, 4)), name(word.field(0, 4)));
    // A move with a shift is written as the shift.
    if opcode == 13 {
        match second {
            Second::Shifted(shift, by) => {
                return word
                    .text(&format!("{}{s}", shift_name(*shift)), &format!("{rd}, {rm}, #{by}"));
            }
            Second::WithCarry => return word.text(&format!("rrx{s}"), &format!("{rd}, {rm}")),
            Second::ByRegister(shift, by) => {
                return word.text(
                    &format!("{}{s}", shift_name(*shift)),
                    &format!("{rd}, {rm}, {}", name(by.0.into())),
                );
            }
            Second::Immediate { .. } | Second::Plain => {}
        }
    }
    let operand = match second {
        Second::Immediate { text, .. } => text.clone(),
        Second::Plain => rm.to_owned(),
        Second::Shifted(shift, by) => format!("{rm}, {} #{by}", shift_name(*shift)),
        Second::WithCarry => format!("{rm}, rrx"),
        Second::ByRegister(shift, by) => {
            format!("{rm}, {} {}", shift_name(*shift), name(by.0.into()))
        }
    };
    let operands = match opcode {
        8..=11 => format!("{rn}, {operand}"),
        13 | 15 => format!("{rd}, {operand}"),
        _ => format!("{rd}, {rn}, {operand}"),
    };
    word.text(&format!("{}{s}", NAMES[opcode as usize]), &operands);
}
