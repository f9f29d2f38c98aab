//! Multiplications: whole words, long results, half words.

use super::word::{ALL, TWICE, UNDEFINED, Word, name};
use super::{N, Q, Z};
use crate::decode::code::{Class, Op, Out, Reg, Role, Value};

/// The low and the high half of a word.
const LOW: u64 = 0xffff;
const HIGH: u64 = 0xffff_0000;

/// `mul`, `mla`, `umaal` and the four long ones.
pub fn multiply(word: &mut Word) -> Result<(), &'static str> {
    let sets_flags = word.bit(20);
    let s = if sets_flags { "s" } else { "" };
    let op = word.field(21, 3);
    if matches!(op, 2 | 3) && sets_flags {
        return Err(UNDEFINED);
    }
    let (rm, rs) = (word.reg(0)?, word.reg(8)?);
    let (high, low) = (word.reg(16)?, word.reg_or_pc(12));
    word.read(rm, Role::Factor);
    word.read(rs, Role::Factor);
    let texts = [high, Reg(word.field(12, 4) as u8), rm, rs].map(|pair| name(pair.0.into()));
    match op {
        3 => {
            word.set_class(Class::Mul);
            word.read(word.reg(12)?, Role::Addend);
            word.write(high, Out::Result);
            let op = Op::Multiply { addend: Value::Reg(word.reg(12)?), is_negated: true };
            word.computes(op, Some(high), Value::Reg(rm), Value::Reg(rs));
            word.text("mls", &format!("{}, {}, {}, {}", texts[0], texts[2], texts[3], texts[1]));
        }
        0 | 1 => {
            word.set_class(if sets_flags { Class::MulFlags } else { Class::Mul });
            word.write(high, Out::Result);
            let addend = if op == 0 { Value::Const(0) } else { Value::Reg(word.reg(12)?) };
            let product = Op::Multiply { addend, is_negated: false };
            word.computes(product, Some(high), Value::Reg(rm), Value::Reg(rs));
            if op == 0 {
                if word.field(12, 4) != 0 {
                    return Err(super::word::FIXED);
                }
                word.text(&format!("mul{s}"), &format!("{}, {}, {}", texts[0], texts[2], texts[3]));
            } else {
                word.read(word.reg(12)?, Role::Addend);
                word.text(
                    &format!("mla{s}"),
                    &format!("{}, {}, {}, {}", texts[0], texts[2], texts[3], texts[1]),
                );
            }
        }
        _ => {
            let Some(low) = low else { return Err(super::word::NO_PC) };
            if low == high {
                return Err(TWICE);
            }
            word.set_class(if sets_flags { Class::MulLongFlags } else { Class::MulLong });
            let mnemonic = ["", "", "umaal", "", "umull", "umlal", "smull", "smlal"][op as usize];
            if matches!(op, 2 | 5 | 7) {
                word.read(low, Role::Addend);
                word.read(high, Role::Addend);
            }
            word.write(low, Out::Result);
            word.write(high, Out::High);
            word.text(
                &format!("{mnemonic}{s}"),
                &format!("{}, {}, {}, {}", texts[1], texts[0], texts[2], texts[3]),
            );
        }
    }
    if sets_flags {
        word.write_flags(&[N, Z]);
    }
    Ok(())
}

/// Half-word multiplications of ARMv5TE: the space that `qadd` begins.
pub fn half_words(word: &mut Word) -> Result<(), &'static str> {
    let half = |top: bool| if top { ("t", HIGH) } else { ("b", LOW) };
    let (x, x_bits) = half(word.bit(5));
    let (y, y_bits) = half(word.bit(6));
    let (rd, rm, rs) = (word.reg(16)?, word.reg(0)?, word.reg(8)?);
    let names = [rd, Reg(word.field(12, 4) as u8), rm, rs].map(|pair| name(pair.0.into()));
    let op = word.field(21, 2);
    word.set_class(Class::MulHalf);
    // The space 01 is smlaw without bit 5, smulw with it: Rm is read whole.
    word.read_bits(rm, Role::Factor, if op == 1 { ALL } else { x_bits });
    word.read_bits(rs, Role::Factor, y_bits);
    let without_addend = format!("{}, {}, {}", names[0], names[2], names[3]);
    let with_addend = format!("{without_addend}, {}", names[1]);
    match op {
        0 | 1 if op == 0 || !word.bit(5) => {
            word.read(word.reg(12)?, Role::Addend);
            word.write(rd, Out::Result);
            saturation(word);
            let mnemonic = if op == 0 { format!("smla{x}{y}") } else { format!("smlaw{y}") };
            word.text(&mnemonic, &with_addend);
        }
        2 => {
            let low = word.reg(12)?;
            if low == rd {
                return Err(TWICE);
            }
            word.read(low, Role::Addend);
            word.read(rd, Role::Addend);
            word.write(low, Out::Result);
            word.write(rd, Out::High);
            word.text(&format!("smlal{x}{y}"), &format!("{}, {without_addend}", names[1]));
        }
        _ => {
            if word.field(12, 4) != 0 {
                return Err(super::word::FIXED);
            }
            word.write(rd, Out::Result);
            let mnemonic = if op == 1 { format!("smulw{y}") } else { format!("smul{x}{y}") };
            word.text(&mnemonic, &without_addend);
        }
    }
    Ok(())
}

/// The instruction may set Q and never clears it: what was there shows through.
pub fn saturation(word: &mut Word) {
    word.read_flag(Q);
    word.write_flags(&[Q]);
}

/// Signed multiplications of ARMv6: `smlad`, `smlsd`, `smlald`, `smlsld`, `smmla`, `smmls` and
/// the forms without addend.
pub fn dual(word: &mut Word) -> Result<(), &'static str> {
    let (rd, rm, rs) = (word.reg(16)?, word.reg(0)?, word.reg(8)?);
    let addend = word.reg_or_pc(12);
    let names = [rd, Reg(word.field(12, 4) as u8), rm, rs].map(|pair| name(pair.0.into()));
    let without_addend = format!("{}, {}, {}", names[0], names[2], names[3]);
    let with_addend = format!("{without_addend}, {}", names[1]);
    let x = if word.bit(5) { "x" } else { "" };
    let (op, kind) = (word.field(20, 3), word.field(6, 2));
    word.read(rm, Role::Factor);
    word.read(rs, Role::Factor);
    word.set_class(Class::MulHalf);
    match (op, kind) {
        (0b001 | 0b011, 0) if !word.bit(5) => {
            if addend.is_some() {
                return Err(super::word::FIXED);
            }
            word.set_class(Class::Div);
            word.write(rd, Out::Result);
            word.text(if op == 0b001 { "sdiv" } else { "udiv" }, &without_addend);
        }
        (0b000, 0 | 1) => {
            word.write(rd, Out::Result);
            let sign = if kind == 0 { "ad" } else { "sd" };
            match addend {
                Some(addend) => {
                    word.read(addend, Role::Addend);
                    saturation(word);
                    word.text(&format!("sml{sign}{x}"), &with_addend);
                }
                None => {
                    // The difference of two products of half words always fits; their sum may not.
                    if kind == 0 {
                        saturation(word);
                    }
                    word.text(&format!("smu{sign}{x}"), &without_addend);
                }
            }
        }
        (0b100, 0 | 1) => {
            let low = addend.ok_or(super::word::NO_PC)?;
            if low == rd {
                return Err(TWICE);
            }
            word.read(low, Role::Addend);
            word.read(rd, Role::Addend);
            word.write(low, Out::Result);
            word.write(rd, Out::High);
            let sign = if kind == 0 { "ad" } else { "sd" };
            word.text(
                &format!("sml{}l{}{x}", &sign[..1], &sign[1..]),
                &format!("{}, {without_addend}", names[1]),
            );
        }
        (0b101, 0 | 3) => {
            word.set_class(Class::Mul);
            word.write(rd, Out::Result);
            let r = if word.bit(5) { "r" } else { "" };
            match addend {
                Some(addend) => {
                    word.read(addend, Role::Addend);
                    let mnemonic = if kind == 0 { "smmla" } else { "smmls" };
                    word.text(&format!("{mnemonic}{r}"), &with_addend);
                }
                None if kind == 0 => word.text(&format!("smmul{r}"), &without_addend),
                None => return Err(super::word::NO_PC),
            }
        }
        _ => return Err(UNDEFINED),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::decode::Isa;
    use crate::decode::a32::{C, V};

    #[test]
    fn a_multiplication_keeps_carry_and_overflow() {
        let muls =
            Isa::A32.decode(0, &0xe010_0291u32.to_le_bytes()).expect("it is muls r0, r1, r2");
        assert_eq!(muls.text, "muls r0, r1, r2");
        assert!(muls.writes.iter().all(|write| write.reg != C && write.reg != V));
    }
}
