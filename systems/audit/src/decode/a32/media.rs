//! ARMv6's media instructions: parallel arithmetic, packing, saturation, extension, byte order.

use super::multiply::{dual, saturation};
use super::word::{ALL, FIXED, UNDEFINED, Word, name};
use super::{GE, PC};
use crate::decode::code::{Class, Extension, Flow, Op, Out, Reg, Role, Shift, Value};

/// Decodes one of them.
pub fn media(word: &mut Word) -> Result<(), &'static str> {
    match word.field(23, 2) {
        0b00 => parallel(word),
        0b01 => pack_and_extend(word),
        0b10 => dual(word),
        _ => match (word.field(20, 3), word.field(5, 3)) {
            (0, 0) => sum_of_differences(word),
            (op @ (2 | 3 | 6 | 7), 2 | 6) => {
                let (rd, rn) = (word.reg(12)?, word.reg(0)?);
                extract(word, rd, rn, word.field(7, 5), word.field(16, 5) + 1, op < 4)
            }
            (4 | 5, 0 | 4) => {
                let (rd, rn) = (word.reg(12)?, word.reg_or_pc(0));
                insert(word, rd, rn, word.field(7, 5), word.field(16, 5))
            }
            // Undefined for ever, and how compilers stop where nothing should come.
            (7, 7) if word.field(28, 4) == 14 => {
                word.set_class(Class::System);
                word.set_flow(Flow::Stop);
                word.text("udf", &format!("#{}", word.field(8, 12) << 4 | word.field(0, 4)));
                Ok(())
            }
            _ => Err(UNDEFINED),
        },
    }
}

fn three(word: &Word) -> Result<([Reg; 3], String), &'static str> {
    let regs = [word.reg(12)?, word.reg(16)?, word.reg(0)?];
    let text = regs.map(|reg| name(reg.0.into())).join(", ");
    Ok((regs, text))
}

fn parallel(word: &mut Word) -> Result<(), &'static str> {
    let prefix = ["", "s", "q", "sh", "", "u", "uq", "uh"][word.field(20, 3) as usize];
    let suffix =
        ["add16", "asx", "sax", "sub16", "add8", "", "", "sub8"][word.field(5, 3) as usize];
    if prefix.is_empty() || suffix.is_empty() {
        return Err(UNDEFINED);
    }
    if word.field(8, 4) != 15 {
        return Err(FIXED);
    }
    let ([rd, rn, rm], text) = three(word)?;
    word.set_class(Class::Alu);
    word.read(rn, Role::Source);
    word.read(rm, Role::Source);
    word.write(rd, Out::Result);
    if prefix == "s" || prefix == "u" {
        word.write_flags(&GE);
    }
    word.text(&format!("{prefix}{suffix}"), &text);
    Ok(())
}

fn pack_and_extend(word: &mut Word) -> Result<(), &'static str> {
    let (op, kind) = (word.field(20, 3), word.field(5, 3));
    match (op, kind) {
        (0, kind) if kind & 1 == 0 => pack(word),
        (0, 0b101) => select(word),
        (0b010 | 0b011 | 0b110 | 0b111, kind) if kind & 1 == 0 => saturate(word),
        (0b010 | 0b110, 0b001) => saturate_halves(word),
        (_, 0b011) => extend(word),
        (0b011, 0b001) => reverse(word, "rev"),
        (0b011, 0b101) => reverse(word, "rev16"),
        (0b111, 0b101) => reverse(word, "revsh"),
        (0b111, 0b001) => reverse(word, "rbit"),
        _ => Err(UNDEFINED),
    }
}

fn pack(word: &mut Word) -> Result<(), &'static str> {
    let ([rd, rn, rm], text) = three(word)?;
    let is_top = word.bit(6);
    let by = word.field(7, 5);
    word.set_class(Class::AluShiftImm);
    word.write(rd, Out::Result);
    if is_top {
        let by = if by == 0 { 32 } else { by };
        word.read_bits(rn, Role::Source, 0xffff_0000);
        word.read_bits(rm, Role::Shifted, (0xffff << by | 1 << 31) & ALL);
        word.text("pkhtb", &format!("{text}, asr #{by}"));
    } else {
        word.read_bits(rn, Role::Source, 0xffff);
        word.read_bits(rm, Role::Shifted, 0xffff_0000 >> by & ALL);
        word.text("pkhbt", &if by == 0 { text } else { format!("{text}, lsl #{by}") });
    }
    Ok(())
}

fn select(word: &mut Word) -> Result<(), &'static str> {
    if word.field(8, 4) != 15 {
        return Err(FIXED);
    }
    let ([rd, rn, rm], text) = three(word)?;
    word.set_class(Class::Alu);
    word.read(rn, Role::Source);
    word.read(rm, Role::Source);
    for flag in GE {
        word.read_flag(flag);
    }
    word.write(rd, Out::Result);
    word.text("sel", &text);
    Ok(())
}

fn saturate(word: &mut Word) -> Result<(), &'static str> {
    let (rd, rm) = (word.reg(12)?, word.reg(0)?);
    let is_unsigned = word.bit(22);
    let to = word.field(16, 5) + u32::from(!is_unsigned);
    let (shift, by) = match (word.bit(6), word.field(7, 5)) {
        (false, by) => (Shift::Left, by),
        (true, 0) => (Shift::RightSigned, 32),
        (true, by) => (Shift::RightSigned, by),
    };
    word.set_class(Class::AluShiftImm);
    let bits = if shift == Shift::Left { ALL >> by } else { (ALL << by | 1 << 31) & ALL };
    word.read_bits(rm, Role::Shifted, bits);
    word.write(rd, Out::Result);
    saturation(word);
    let shift = match (shift, by) {
        (Shift::Left, 0) => String::new(),
        (shift, by) => format!(", {} #{by}", super::data::shift_name(shift)),
    };
    let mnemonic = if is_unsigned { "usat" } else { "ssat" };
    word.text(mnemonic, &format!("{}, #{to}, {}{shift}", name(rd.0.into()), name(rm.0.into())));
    Ok(())
}

fn saturate_halves(word: &mut Word) -> Result<(), &'static str> {
    if word.field(8, 4) != 15 {
        return Err(FIXED);
    }
    let (rd, rm) = (word.reg(12)?, word.reg(0)?);
    let is_unsigned = word.bit(22);
    let to = word.field(16, 4) + u32::from(!is_unsigned);
    word.set_class(Class::Alu);
    word.read(rm, Role::Source);
    word.write(rd, Out::Result);
    saturation(word);
    let mnemonic = if is_unsigned { "usat16" } else { "ssat16" };
    word.text(mnemonic, &format!("{}, #{to}, {}", name(rd.0.into()), name(rm.0.into())));
    Ok(())
}

/// `sxtb` and its eleven relatives.
fn extend(word: &mut Word) -> Result<(), &'static str> {
    let op = word.field(20, 3);
    let (suffix, bits) = match op & 3 {
        0 => ("b16", 0),
        2 => ("b", 8u8),
        3 => ("h", 16),
        _ => return Err(UNDEFINED),
    };
    if word.field(8, 2) != 0 {
        return Err(FIXED);
    }
    let is_signed = op & 4 == 0;
    let letter = if is_signed { "s" } else { "u" };
    let by = word.field(10, 2) * 8;
    let rotation = if by == 0 { String::new() } else { format!(", ror #{by}") };
    let (rd, rm) = (word.reg(12)?, word.reg(0)?);
    let kept: u32 = if bits == 0 { 0x00ff_00ff } else { (1 << bits) - 1 };
    word.read_bits(rm, Role::Shifted, kept.rotate_left(by).into());
    word.write(rd, Out::Result);
    word.set_class(Class::Extend);
    let (rd_name, rm_name) = (name(rd.0.into()), name(rm.0.into()));
    if word.field(16, 4) == PC {
        if by == 0 && bits != 0 {
            let op = if is_signed { Op::SignExtend { bits } } else { Op::ZeroExtend { bits } };
            word.computes(op, Some(rd), Value::Reg(rm), Value::Const(0));
        } else if bits != 0 && by + u32::from(bits) <= 32 {
            word.computes(
                Op::Field { low: by as u8, bits, is_signed },
                Some(rd),
                Value::Reg(rm),
                Value::Const(0),
            );
        }
        word.text(&format!("{letter}xt{suffix}"), &format!("{rd_name}, {rm_name}{rotation}"));
    } else {
        let rn = word.reg(16)?;
        if by == 0 && bits != 0 {
            let low = Value::Extended(rm, Extension { bits, is_signed }, 0);
            word.computes(Op::Add, Some(rd), Value::Reg(rn), low);
        }
        word.read(rn, Role::Source);
        word.text(
            &format!("{letter}xta{suffix}"),
            &format!("{rd_name}, {}, {rm_name}{rotation}", name(rn.0.into())),
        );
    }
    Ok(())
}

/// `sbfx` and `ubfx`: `n` bits from bit `low` on.
pub fn extract(
    word: &mut Word,
    rd: Reg,
    rn: Reg,
    low: u32,
    n: u32,
    is_signed: bool,
) -> Result<(), &'static str> {
    if low + n > 32 {
        return Err("unpredictable: the field ends beyond the register");
    }
    word.set_class(Class::Extend);
    word.read_bits(rn, Role::Source, (ALL >> (32 - n)) << low);
    word.write(rd, Out::Result);
    word.computes(
        Op::Field { low: low as u8, bits: n as u8, is_signed },
        Some(rd),
        Value::Reg(rn),
        Value::Const(0),
    );
    let operands = format!("{}, {}, #{low}, #{n}", name(rd.0.into()), name(rn.0.into()));
    word.text(if is_signed { "sbfx" } else { "ubfx" }, &operands);
    Ok(())
}

/// `bfi`, and `bfc` without a source: bits `low` to `high` become the lowest of the source, or 0.
pub fn insert(
    word: &mut Word,
    rd: Reg,
    rn: Option<Reg>,
    low: u32,
    high: u32,
) -> Result<(), &'static str> {
    if high < low {
        return Err("unpredictable: the field ends before it begins");
    }
    word.set_class(Class::Extend);
    let bits = (ALL >> (31 - high)) & (ALL << low) & ALL;
    word.write_bits(rd, Out::Result, bits);
    let (d, n) = (name(rd.0.into()), high - low + 1);
    match rn {
        Some(rn) => {
            word.read_bits(rn, Role::Source, bits >> low);
            word.text("bfi", &format!("{d}, {}, #{low}, #{n}", name(rn.0.into())));
        }
        None => word.text("bfc", &format!("{d}, #{low}, #{n}")),
    }
    Ok(())
}

fn reverse(word: &mut Word, mnemonic: &str) -> Result<(), &'static str> {
    if word.field(16, 4) != 15 || word.field(8, 4) != 15 {
        return Err(FIXED);
    }
    let (rd, rm) = (word.reg(12)?, word.reg(0)?);
    word.set_class(Class::Extend);
    word.read_bits(rm, Role::Source, if mnemonic == "revsh" { 0xffff } else { ALL });
    word.write(rd, Out::Result);
    word.text(mnemonic, &format!("{}, {}", name(rd.0.into()), name(rm.0.into())));
    Ok(())
}

fn sum_of_differences(word: &mut Word) -> Result<(), &'static str> {
    let (rd, rm, rs) = (word.reg(16)?, word.reg(0)?, word.reg(8)?);
    word.set_class(Class::MulHalf);
    word.read(rm, Role::Factor);
    word.read(rs, Role::Factor);
    word.write(rd, Out::Result);
    let operands = [rd, rm, rs].map(|pair| name(pair.0.into())).join(", ");
    match word.reg_or_pc(12) {
        Some(addend) => {
            word.read(addend, Role::Addend);
            word.text("usada8", &format!("{operands}, {}", name(addend.0.into())));
        }
        None => word.text("usad8", &operands),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::decode::Isa;

    fn reads(bits: u32) -> (String, u64) {
        let it = Isa::A32.decode(0, &bits.to_le_bytes()).expect("it is an instruction");
        (it.text, it.reads[0].bits)
    }

    #[test]
    fn an_extension_reads_only_what_it_keeps() {
        assert_eq!(reads(0xe6ef_0071), ("uxtb r0, r1".to_owned(), 0xff));
        assert_eq!(reads(0xe6ff_0871), ("uxth r0, r1, ror #16".to_owned(), 0xffff_0000));
        assert_eq!(reads(0xe6cf_0c71), ("uxtb16 r0, r1, ror #24".to_owned(), 0xff00_ff00));
    }
}
