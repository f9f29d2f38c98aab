//! The words of 32 bits that compute: shifted operands, immediates, fields, products.

use super::super::a32::data::{ORN, Second, compute, half, shift_by_constant, shift_name};
use super::super::a32::word::{ALL, FIXED, NO_PC, TWICE, UNDEFINED, Word, name};
use super::super::a32::{LR, PC, control, media, multiply as products};
use super::{NO_SP, general};
use crate::decode::code::{Class, Flow, Op, Out, Reg, Shift, Value};

/// The operation of A32 with this number of Thumb's, and whether a result in the program counter
/// makes it a comparison, or a first operand there a move.
struct DataOperation {
    opcode: u32,
    comparison: Option<u32>,
    plain: Option<u32>,
}

fn operation(op: u32) -> Result<DataOperation, &'static str> {
    let (opcode, comparison, plain) = match op {
        0 => (0, Some(8), None),
        1 => (14, None, None),
        2 => (12, None, Some(13)),
        3 => (ORN, None, Some(15)),
        4 => (1, Some(9), None),
        8 => (4, Some(11), None),
        10 => (5, None, None),
        11 => (6, None, None),
        13 => (2, Some(10), None),
        14 => (3, None, None),
        _ => return Err(UNDEFINED),
    };
    Ok(DataOperation { opcode, comparison, plain })
}

/// The opcode, and the fields of A32 for result and first operand. Refuses the stack pointer but
/// where it is added to, subtracted from or compared.
fn roles(word: &Word, is_register: bool) -> Result<(u32, u32), &'static str> {
    let it = operation(word.field(21, 4))?;
    let (rn, rd, sets_flags) = (word.field(16, 4), word.field(8, 4), word.bit(20));
    let is_sum = matches!(it.opcode, 2 | 4);
    match (it.comparison, it.plain) {
        (Some(opcode), _) if rd == PC && sets_flags => {
            if rn == PC {
                return Err(NO_PC);
            }
            if rn == 13 && !is_sum {
                return Err(NO_SP);
            }
            Ok((opcode, rn << 16))
        }
        (_, Some(opcode)) if rn == PC => {
            // A plain move may name the stack pointer.
            let is_move = opcode == 13
                && is_register
                && !sets_flags
                && word.field(4, 4) == 0
                && word.field(12, 3) == 0
                && rd == 13;
            if !is_move {
                general(word, &[8])?;
            }
            Ok((opcode, rd << 12))
        }
        _ => {
            if is_sum && rn == 13 {
                if rd == PC {
                    return Err(NO_PC);
                }
                if rd == 13 && is_register && (word.field(4, 2) != 0 || word.field(12, 3) != 0) {
                    return Err(NO_SP);
                }
            } else {
                general(word, &[8, 16])?;
            }
            Ok((it.opcode, rn << 16 | rd << 12))
        }
    }
}

/// A second operand that is a register, shifted by a constant.
pub fn shifted(word: &mut Word) -> Result<(), &'static str> {
    if word.bit(15) {
        return Err(FIXED);
    }
    let (rm, kind, by) =
        (word.field(0, 4), word.field(4, 2), word.field(12, 3) << 2 | word.field(6, 2));
    if word.field(21, 4) == 6 {
        general(word, &[16, 8, 0])?;
        if word.bit(20) || kind & 1 == 1 {
            return Err(UNDEFINED);
        }
        word.become_a32(
            0x0680_0010
                | word.field(16, 4) << 16
                | word.field(8, 4) << 12
                | by << 7
                | (kind >> 1) << 6
                | rm,
        );
        return media::media(word);
    }
    let (opcode, places) = roles(word, true)?;
    let sets_flags = word.bit(20);
    let is_plain_move =
        opcode == 13 && !sets_flags && kind == 0 && by == 0 && places >> 12 & 15 != 13;
    if rm == PC || rm == 13 && !is_plain_move {
        return Err(if rm == PC { NO_PC } else { NO_SP });
    }
    word.become_a32(places | by << 7 | kind << 5 | rm);
    let second = match shift_by_constant(word) {
        None => Second::WithCarry,
        Some((Shift::Left, 0)) => Second::Plain,
        Some((shift, by)) => Second::Shifted(shift, by),
    };
    let is_rotation = opcode == 13 && matches!(second, Second::WithCarry);
    if opcode != ORN && opcode != 3 && !is_rotation {
        word.set_suffix(".w");
    }
    compute(word, opcode, &second, sets_flags);
    Ok(())
}

/// The immediate in twelve bits: a byte, or one in several places, or eight bits with a 1 above,
/// rotated; and whether it moves a bit into C.
fn expand(word: &Word) -> Result<(u32, bool), &'static str> {
    let (byte, pattern) = (word.field(0, 8), word.field(26, 1) << 3 | word.field(12, 3));
    let value = match pattern {
        0 => byte,
        1 => byte << 16 | byte,
        2 => byte << 24 | byte << 8,
        3 => byte << 24 | byte << 16 | byte << 8 | byte,
        _ => return Ok(((byte | 0x80).rotate_right(pattern << 1 | byte >> 7), true)),
    };
    if pattern != 0 && byte == 0 {
        Err("unpredictable: the immediate is a zero in a strange form")
    } else {
        Ok((value, false))
    }
}

/// A second operand that is an immediate.
pub fn modified_immediate(word: &mut Word) -> Result<(), &'static str> {
    let (value, carries) = expand(word)?;
    let (opcode, places) = roles(word, false)?;
    let sets_flags = word.bit(20);
    word.become_a32(places);
    if matches!(opcode, 2 | 3 | 4 | 8..=11 | 13) {
        word.set_suffix(".w");
    }
    compute(
        word,
        opcode,
        &Second::Immediate { value, text: format!("#{value}"), carries },
        sets_flags,
    );
    Ok(())
}

/// The address of a place beside the code.
pub fn address(word: &mut Word, rd: u32, by: i64) {
    word.align_pc();
    let value = word.pc().wrapping_add_signed(by) & ALL;
    constant(word, Reg(rd as u8), value);
    word.text("adr", &format!("{}, #{by}", name(rd)));
}

fn constant(word: &mut Word, rd: Reg, value: u64) {
    word.set_class(Class::Constant);
    word.write(rd, Out::Result);
    word.computes(
        Op::Move,
        Some(rd),
        Value::Const(i64::from(value as u32 as i32) as u64),
        Value::Const(0),
    );
}

/// Immediates of twelve and sixteen bits, saturation, fields.
pub fn plain_immediate(word: &mut Word) -> Result<(), &'static str> {
    let (rd, rn) = (word.field(8, 4), word.field(16, 4));
    let twelve = word.field(26, 1) << 11 | word.field(12, 3) << 8 | word.field(0, 8);
    match word.field(20, 5) {
        op @ (0 | 10) => {
            if rn == PC {
                general(word, &[8])?;
                word.set_suffix(".w");
                address(word, rd, if op == 0 { i64::from(twelve) } else { -i64::from(twelve) });
                if op == 10 && twelve == 0 {
                    word.set_suffix("");
                    word.text("subw", &format!("{}, pc, #0", name(rd)));
                }
                return Ok(());
            }
            if rd == PC || rd == 13 && rn != 13 {
                return Err(if rd == PC { NO_PC } else { NO_SP });
            }
            let (opcode, mnemonic) = if op == 0 { (4, "addw") } else { (2, "subw") };
            word.become_a32(rn << 16 | rd << 12);
            compute(
                word,
                opcode,
                &Second::Immediate { value: twelve, text: String::new(), carries: false },
                false,
            );
            word.text(mnemonic, &format!("{}, {}, #{twelve}", name(rd), name(rn)));
            Ok(())
        }
        op @ (4 | 12) => {
            general(word, &[8])?;
            let value = rn << 12 | twelve;
            half(word, Reg(rd as u8), value, op == 12);
            Ok(())
        }
        16 | 18 | 24 | 26 => saturate(word),
        20 | 22 | 28 => field(word),
        _ => Err(UNDEFINED),
    }
}

fn saturate(word: &mut Word) -> Result<(), &'static str> {
    general(word, &[8, 16])?;
    if word.bit(26) || word.bit(5) {
        return Err(FIXED);
    }
    let (rd, rn, to, by) = (
        word.field(8, 4),
        word.field(16, 4),
        word.field(0, 5),
        word.field(12, 3) << 2 | word.field(6, 2),
    );
    let (is_unsigned, is_right) = (word.bit(23), word.bit(21));
    let unsigned = u32::from(is_unsigned) << 22;
    if is_right && by == 0 {
        if word.bit(4) {
            return Err(FIXED);
        }
        word.become_a32(0x06a0_0f30 | unsigned | to << 16 | rd << 12 | rn);
    } else {
        word.become_a32(
            0x06a0_0010 | unsigned | to << 16 | rd << 12 | by << 7 | u32::from(is_right) << 6 | rn,
        );
    }
    media::media(word)
}

/// `bfi`, `bfc`, `sbfx`, `ubfx`.
fn field(word: &mut Word) -> Result<(), &'static str> {
    general(word, &[8])?;
    let (rd, rn) = (Reg(word.field(8, 4) as u8), word.field(16, 4));
    let (low, high) = (word.field(12, 3) << 2 | word.field(6, 2), word.field(0, 5));
    if word.bit(26) || word.bit(5) {
        return Err(FIXED);
    }
    if word.field(20, 5) == 22 {
        let rn = if rn == PC { None } else { Some(Reg(rn as u8)) };
        if rn.is_some() {
            general(word, &[16])?;
        }
        return media::insert(word, rd, rn, low, high);
    }
    general(word, &[16])?;
    let is_signed = word.field(20, 5) == 20;
    media::extract(word, rd, Reg(rn as u8), low, high + 1, is_signed)
}

/// Operands that are all registers: shifts, extensions, parallel arithmetic, and single ones.
pub fn registers(word: &mut Word) -> Result<(), &'static str> {
    if word.field(12, 4) != 15 {
        return Err(UNDEFINED);
    }
    let (rn, rd, rm) = (word.field(16, 4), word.field(8, 4), word.field(0, 4));
    let (op, kind) = (word.field(20, 4), word.field(4, 4));
    match (op, kind) {
        (0..=7, 0) => {
            general(word, &[16, 8, 0])?;
            let shift =
                [Shift::Left, Shift::Right, Shift::RightSigned, Shift::Rotate][(op >> 1) as usize];
            word.set_suffix(".w");
            word.become_a32(rd << 12 | rn);
            compute(word, 13, &Second::ByRegister(shift, Reg(rm as u8)), op & 1 == 1);
            let s = if op & 1 == 1 { "s" } else { "" };
            word.text(
                &format!("{}{s}", shift_name(shift)),
                &format!("{}, {}, {}", name(rd), name(rn), name(rm)),
            );
            Ok(())
        }
        (0..=5, 8..) => {
            general(word, &[8, 0])?;
            if word.bit(6) {
                return Err(FIXED);
            }
            if rn == 13 {
                return Err(NO_SP);
            }
            let kind = [3, 7, 0, 4, 2, 6][op as usize];
            // The plain extensions of one part have a short form.
            if rn == PC && !matches!(op, 2 | 3) {
                word.set_suffix(".w");
            }
            word.become_a32(
                0x0680_0070 | kind << 20 | rn << 16 | rd << 12 | word.field(4, 2) << 10 | rm,
            );
            media::media(word)
        }
        (8..=15, 0..=7) => {
            general(word, &[16, 8, 0])?;
            let kind = match op & 7 {
                1 => 0,
                2 => 1,
                6 => 2,
                5 => 3,
                0 => 4,
                4 => 7,
                _ => return Err(UNDEFINED),
            };
            let how = kind_of_parallel(word.field(4, 3)).ok_or(UNDEFINED)?;
            word.become_a32(0x0600_0f10 | how << 20 | rn << 16 | rd << 12 | kind << 5 | rm);
            media::media(word)
        }
        (8, 8..=11) => {
            general(word, &[16, 8, 0])?;
            let op = [0, 2, 1, 3][(kind & 3) as usize];
            word.become_a32(0x0100_0050 | op << 21 | rn << 16 | rd << 12 | rm);
            control::saturating(word)
        }
        (9, 8..=11) | (11, 8) => {
            general(word, &[16, 8, 0])?;
            if rn != rm {
                return Err("unpredictable: the operand is named twice, and differently");
            }
            if op == 11 {
                word.become_a32(0x016f_0f10 | rd << 12 | rm);
                return control::miscellaneous(word);
            }
            if kind != 10 {
                word.set_suffix(".w");
            }
            let kind = [0x06bf_0f30, 0x06bf_0fb0, 0x06ff_0f30, 0x06ff_0fb0][(kind & 3) as usize];
            word.become_a32(kind | rd << 12 | rm);
            media::media(word)
        }
        (10, 8) => {
            general(word, &[16, 8, 0])?;
            word.become_a32(0x0680_0fb0 | rn << 16 | rd << 12 | rm);
            media::media(word)
        }
        (12 | 13, 8..=11) => Err("from a later architecture: checksums came with ARMv8-A"),
        _ => Err(UNDEFINED),
    }
}

/// A32's number for `s`, `q`, `sh`, `u`, `uq`, `uh`.
fn kind_of_parallel(kind: u32) -> Option<u32> {
    [Some(1), Some(2), Some(3), None, Some(5), Some(6), Some(7), None][kind as usize]
}

/// Products with one result.
pub fn multiply(word: &mut Word) -> Result<(), &'static str> {
    let (rn, ra, rd, rm) =
        (word.field(16, 4), word.field(12, 4), word.field(8, 4), word.field(0, 4));
    let (op, kind) = (word.field(20, 3), word.field(4, 2));
    if word.field(6, 2) != 0 {
        return Err(UNDEFINED);
    }
    general(word, &[16, 8, 0])?;
    if ra == 13 {
        return Err(NO_SP);
    }
    let regs = rd << 16 | rm << 8 | rn;
    let with_addend = regs | ra << 12;
    let is_plain = ra == PC;
    match (op, kind) {
        (0, 0) if is_plain => word.become_a32(0x0000_0090 | regs),
        (0, 0) => word.become_a32(0x0020_0090 | with_addend),
        (0, 1) if is_plain => return Err(NO_PC),
        (0, 1) => word.become_a32(0x0060_0090 | with_addend),
        (1, _) => word.become_a32(
            if is_plain { 0x0160_0080 | regs } else { 0x0100_0080 | with_addend }
                | (kind >> 1) << 5
                | (kind & 1) << 6,
        ),
        (2, 0 | 1) => word.become_a32(0x0700_0010 | with_addend | kind << 5),
        (3, 0 | 1) => word.become_a32(
            if is_plain { 0x0120_00a0 | regs } else { 0x0120_0080 | with_addend } | kind << 6,
        ),
        (4, 0 | 1) => word.become_a32(0x0700_0050 | with_addend | kind << 5),
        (5, 0 | 1) => word.become_a32(0x0750_0010 | with_addend | kind << 5),
        (6, 0 | 1) => word.become_a32(0x0750_00d0 | with_addend | kind << 5),
        (7, 0) => word.become_a32(0x0780_0010 | with_addend),
        _ => return Err(UNDEFINED),
    }
    match op {
        0 => {
            products::multiply(word)?;
            if !is_plain {
                word.set_class(Class::MulAddWide);
            }
            Ok(())
        }
        1 | 3 => products::half_words(word),
        _ => media::media(word),
    }
}

/// Products with two results, and quotients.
pub fn multiply_long(word: &mut Word) -> Result<(), &'static str> {
    let (rn, low, high, rm) =
        (word.field(16, 4), word.field(12, 4), word.field(8, 4), word.field(0, 4));
    let (op, kind) = (word.field(20, 3), word.field(4, 4));
    let regs = high << 16 | low << 12 | rm << 8 | rn;
    match (op, kind) {
        (1 | 3, 15) => {
            general(word, &[16, 8, 0])?;
            if low != 15 {
                return Err(FIXED);
            }
            let bits = if op == 1 { 0x0710_f010 } else { 0x0730_f010 };
            word.become_a32(bits | high << 16 | rm << 8 | rn);
            return media::media(word);
        }
        (0, 0) => word.become_a32(0x00c0_0090 | regs),
        (2, 0) => word.become_a32(0x0080_0090 | regs),
        (4, 0) => word.become_a32(0x00e0_0090 | regs),
        (6, 0) => word.become_a32(0x00a0_0090 | regs),
        (6, 6) => word.become_a32(0x0040_0090 | regs),
        (4, 8..=11) => word.become_a32(0x0140_0080 | regs | (kind >> 1 & 1) << 5 | (kind & 1) << 6),
        (4, 12 | 13) => word.become_a32(0x0740_0010 | regs | (kind & 1) << 5),
        (5, 12 | 13) => word.become_a32(0x0740_0050 | regs | (kind & 1) << 5),
        _ => return Err(UNDEFINED),
    }
    // The fields are A32's now.
    general(word, &[0, 8, 12, 16])?;
    if low == high {
        return Err(TWICE);
    }
    match (op, kind) {
        (4, 8..=11) => products::half_words(word),
        (4 | 5, 12 | 13) => media::media(word),
        _ => products::multiply(word),
    }
}

/// `subs pc, lr, #n`: back from an exception.
pub fn exception_return(word: &mut Word) -> Result<(), &'static str> {
    if word.field(16, 4) != u32::from(LR.0) || word.field(8, 4) != 15 {
        return Err(FIXED);
    }
    let value = word.field(0, 8);
    word.become_a32(0x000e_f000);
    compute(word, 2, &Second::Immediate { value, text: format!("#{value}"), carries: false }, true);
    word.set_flow(Flow::Resume);
    word.text("subs", &format!("pc, lr, #{value}"));
    Ok(())
}
