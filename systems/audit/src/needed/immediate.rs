//! Constants and offsets that the encoding splits.
//!
//! ```text
//! mov r3, #0x1000      0x1004 is no immediate of A32: eight bits, rotated by an even number
//! orr r3, r3, #4
//!
//! add r3, r0, #4096    the offset 4100 does not fit in the twelve bits of a load
//! ldr r3, [r3, #4]
//!
//! ldr r3, [pc, #40]    0x40000404
//! ldr r2, [pc, #40]    0x40000504: add r2, r3, #256
//! ```

use super::{Subject, is_load};
use crate::decode::Isa;
use crate::decode::code::{Op, Value};
use crate::finding::{Finding, Kind};
use crate::program::addresses::upper_half;

pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for idx in 0..subject.function.instructions.len() {
        let first =
            built(subject, idx).or_else(|| halves(subject, idx)).or_else(|| twice(subject, idx));
        findings.extend(first.or_else(|| far(subject, idx)).or_else(|| pool(subject, idx)));
    }
}

/// What one instruction could hold of a number; of Thumb's, in some words more: `also`.
fn limit(subject: &Subject<'_>, also: &str) -> String {
    let limit = match subject.function.isa {
        Isa::A32 => "an immediate of A32 is eight bits, rotated by an even number",
        Isa::T32 if !subject.has_wide_words() => "an immediate of ARMv6-M is eight bits",
        Isa::T32 => {
            return format!("an immediate of Thumb is eight bits, in one place or repeated{also}");
        }
        Isa::A64 => "an immediate of A64 is twelve bits, sixteen shifted, or a repeated pattern",
        Isa::Sparc => "an immediate of SPARC is thirteen bits with a sign",
        Isa::Riscv32 | Isa::Riscv64 => "an immediate of RISC-V is twelve bits with a sign",
        Isa::X86 => "an immediate of x86-64 is 32 bits with a sign",
    };
    limit.to_owned()
}

/// A constant may be the lower half of a register (`movw`).
const OF_CONSTANTS: &str = ", or the lower sixteen";
/// What is added or taken away may be longer, too (`addw`, `subw`).
const OF_SUMS: &str = ", or the lower twelve";

/// A constant put together from two.
fn built(subject: &Subject<'_>, idx: usize) -> Option<Finding> {
    let second = subject.at(idx).operation?;
    let (Value::Reg(reg), Value::Const(low)) = (second.a, second.b) else { return None };
    let writer = subject
        .writer(idx, reg)
        .filter(|&writer| writer < idx && subject.is_straight(writer, idx))?;
    // The address of something: how far it is, the linker decides, and no constant of the source.
    if ["adr", "auipc"].iter().any(|word| subject.at(writer).text.starts_with(word)) {
        return None;
    }
    let first = subject.at(writer).operation?;
    let high = match (first.op, first.a) {
        (Op::Move, Value::Const(high)) => high,
        (Op::Not, Value::Const(high)) => !high,
        _ => return None,
    };
    let value = match second.op {
        Op::Or => high | low,
        Op::Add => high.wrapping_add(low),
        Op::Sub => high.wrapping_sub(low),
        Op::AndNot => high & !low,
        _ => return None,
    };
    let is_whole = subject.bits.demanded(idx, reg) == 0 || second.result == Some(reg);
    if !is_whole || subject.at(idx).is_guarded() || subject.at(writer).is_guarded() {
        return None;
    }
    let value = value & crate::facts::bits::low(second.width);
    // The first part may be wanted by itself.
    if subject.function.isa == Isa::T32 && fits_thumb(subject, value as u32) {
        return None;
    }
    Some(subject.finding(
        idx,
        Kind::SplitImmediate,
        format!("{value:#x} takes two instructions: {}", limit(subject, OF_CONSTANTS)),
    ))
}

/// A constant of Arm's in two halves: `movw r0, #0x5678; movt r0, #0x1234`. Of those that a linker
/// writes nothing is known.
fn halves(subject: &Subject<'_>, idx: usize) -> Option<Finding> {
    let instruction = subject.at(idx);
    let high = upper_half(subject.function.isa, instruction)?;
    let reg = instruction.writes.first()?.reg;
    let writer = subject
        .writer(idx, reg)
        .filter(|&writer| writer < idx && subject.is_straight(writer, idx))?;
    let first = subject.at(writer).operation.filter(|operation| operation.result == Some(reg))?;
    let (Op::Move, Value::Const(low)) = (first.op, first.a) else { return None };
    if instruction.is_guarded() || subject.at(writer).is_guarded() {
        return None;
    }
    let value = u64::from(high) << 16 | low & 0xffff;
    Some(subject.finding(
        idx,
        Kind::SplitImmediate,
        format!("{value:#x} takes two instructions: {}", limit(subject, OF_CONSTANTS)),
    ))
}

/// A constant that is applied in two steps: `bic r0, r0, #508; bic r0, r0, #3`.
fn twice(subject: &Subject<'_>, idx: usize) -> Option<Finding> {
    let second = subject.at(idx).operation?;
    let (Value::Reg(reg), Value::Const(low)) = (second.a, second.b) else { return None };
    let writer = subject
        .writer(idx, reg)
        .filter(|&writer| writer < idx && subject.is_straight(writer, idx))?;
    let first = subject.at(writer).operation.filter(|operation| {
        operation.result == Some(reg)
            && operation.width == second.width
            && operation.op == second.op
    })?;
    let (Value::Reg(from), Value::Const(high)) = (first.a, first.b) else { return None };
    let (name, value) = match second.op {
        Op::Add | Op::Sub => ("the sum with", high.wrapping_add(low)),
        Op::Or => ("setting the bits of", high | low),
        Op::Xor => ("inverting the bits of", high ^ low),
        Op::AndNot => ("clearing the bits of", high | low),
        Op::And => ("keeping the bits of", high & low),
        _ => return None,
    };
    let conventions = subject.function.isa.conventions();
    let is_frame =
        second.result == Some(conventions.stack_pointer) || from == conventions.stack_pointer;
    let is_used =
        (writer + 1..idx).any(|idx| subject.at(idx).reads.iter().any(|read| read.reg == reg));
    let goes_on = is_used || subject.bits.demanded(idx, reg) != 0 && second.result != Some(reg);
    let has_flags =
        |place: usize| {
            subject.at(place).writes.iter().any(|write| {
                subject.is_flag(write.reg) && subject.bits.demanded(place, write.reg) != 0
            })
        };
    if is_frame
        || goes_on
        || has_flags(writer)
        || subject.at(idx).is_guarded()
        || subject.at(writer).is_guarded()
    {
        return None;
    }
    let value = value & crate::facts::bits::low(second.width);
    if subject.function.isa == Isa::T32
        && matches!(second.op, Op::Add | Op::Sub)
        && fits_thumb(subject, value as u32)
    {
        return None;
    }
    let is_field = subject.function.isa == Isa::T32 && second.op == Op::AndNot && is_run(value);
    let also = if matches!(second.op, Op::Add | Op::Sub) { OF_SUMS } else { "" };
    let limit = match is_field {
        true => "`bfc` clears neighbours in one".to_owned(),
        false => limit(subject, also),
    };
    Some(subject.finding(
        idx,
        Kind::SplitImmediate,
        format!("{name} {value:#x} takes two instructions: {limit}"),
    ))
}

/// Ones beside each other, and nothing else.
fn is_run(value: u64) -> bool {
    value != 0 && (value >> value.trailing_zeros()) & ((value >> value.trailing_zeros()) + 1) == 0
}

/// An address put together because the offset is too large.
fn far(subject: &Subject<'_>, idx: usize) -> Option<Finding> {
    let instruction = subject.at(idx);
    let [access] = instruction.accesses[..] else { return None };
    let base = access.base.filter(|_| access.index.is_none())?;
    let writer = subject
        .writer(idx, base)
        .filter(|&writer| writer < idx && subject.is_straight(writer, idx))?;
    let first = subject.at(writer).operation.filter(|operation| operation.result == Some(base))?;
    let (Value::Reg(from), Value::Const(by)) = (first.a, first.b) else { return None };
    let by = match first.op {
        Op::Add => by as i64,
        Op::Sub => (by as i64).wrapping_neg(),
        _ => return None,
    };
    let conventions = subject.function.isa.conventions();
    let is_frame = from == conventions.stack_pointer || Some(from) == conventions.frame_pointer;
    let is_shared =
        (writer + 1..idx).any(|idx| subject.at(idx).reads.iter().any(|read| read.reg == base));
    let goes_on = is_shared
        || subject.bits.demanded(idx, base) != 0
            && !instruction.writes.iter().any(|write| write.reg == base);
    if by.unsigned_abs() < 256 || is_frame || goes_on || first.op == Op::Add && from == base {
        return None;
    }
    let (offset, width) = (by + access.disp, i64::from(access.width));
    // A64's longer offsets count in units of what is accessed.
    let is_between = subject.function.isa == Isa::A64
        && width > 0
        && offset % width != 0
        && (0..4096 * width).contains(&offset);
    let limit = if is_between {
        format!("is no multiple of {width}, as it would have to be for")
    } else {
        "is too far for".to_owned()
    };
    let why =
        format!("it only prepares an address: the offset {offset} {limit} {}", subject.named(idx));
    Some(subject.finding(writer, Kind::SplitImmediate, why))
}

/// A constant that is loaded although one instruction would make it: by itself, or from a constant
/// that a register holds. In two it would take no fewer cycles than the load.
fn pool(subject: &Subject<'_>, idx: usize) -> Option<Finding> {
    let value = constant(subject, idx)?;
    let isa = subject.function.isa;
    // How far something is from here: the address of a function, a table or the GOT.
    let to = subject.at(idx).writes.first()?.reg;
    if subject.is_read_by(idx, to, |subject| subject.text.contains(", pc")) {
        return None;
    }
    let is_one =
        is_immediate(isa, value) || is_immediate(isa, !value) || isa == Isa::T32 && value <= 0xffff;
    let why = if is_one {
        format!("{value:#x} is loaded, and one instruction would make it")
    } else {
        let near = |place: &usize| {
            let held = constant(subject, *place)?;
            let by = value.wrapping_sub(held);
            let [write] = subject.at(*place).writes[..] else { return None };
            let is_addend =
                |number: u32| is_immediate(isa, number) || isa == Isa::T32 && number < 4096;
            let is_near = is_addend(by) || is_addend(by.wrapping_neg());
            let is_held =
                subject.is_straight(*place, idx) && subject.is_kept(write.reg, *place, idx);
            (is_near && is_held).then_some((write.reg, by as i32))
        };
        let (reg, by) = (0..idx).rev().find_map(|place| near(&place))?;
        let reg = subject.name(reg);
        let from = match by {
            0 => format!("{reg} holds it"),
            1.. => format!("it is {reg} plus {by}"),
            _ => format!("it is {reg} less {}", by.unsigned_abs()),
        };
        format!("{value:#x} is loaded, and {from}")
    };
    Some(subject.finding(idx, Kind::SplitImmediate, why))
}

/// The word beside the code that an instruction loads, if it is known and nothing else is done.
fn constant(subject: &Subject<'_>, idx: usize) -> Option<u32> {
    let instruction = subject.at(idx);
    let is_known = match subject.function.isa {
        Isa::A32 => true,
        Isa::T32 => subject.has_wide_words(),
        _ => false,
    };
    let is_plain = is_load(instruction) && !instruction.is_guarded() && is_known;
    subject.function.constants.get(&instruction.address).copied().filter(|_| is_plain)
}

/// One instruction of Thumb makes the value.
fn fits_thumb(subject: &Subject<'_>, value: u32) -> bool {
    let is_wide =
        is_immediate(Isa::T32, value) || is_immediate(Isa::T32, !value) || value <= 0xffff;
    value < 256 || subject.has_wide_words() && is_wide
}

/// A32: eight bits, rotated by an even number. Thumb: eight bits with a one above in any place,
/// or a byte repeated.
fn is_immediate(isa: Isa, value: u32) -> bool {
    if isa == Isa::T32 {
        let byte = value & 0xff;
        let repeated = [byte * 0x0001_0001, byte * 0x0101_0101, (value >> 8 & 0xff) * 0x0100_0100];
        return value.checked_shr(value.trailing_zeros()).unwrap_or(0) < 256
            || repeated.contains(&value);
    }
    (0..32).step_by(2).any(|by| value.rotate_left(by) < 256)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{RETURN, found, found_on, function, places};
    use super::*;

    #[test]
    fn a_constant_in_two_steps() {
        // mov r0, #0x1000; orr r0, r0, #4
        let all = found(&[0xe3a0_0a01, 0xe380_0004, RETURN]);
        assert_eq!(
            all[0].2,
            "0x1004 takes two instructions: an immediate of A32 is eight bits, rotated by an even number"
        );
    }

    #[test]
    fn a_constant_in_two_halves() {
        // movw r0, #0x5678; movt r0, #0x9abc, and with another one between.
        let all = found(&[0xe305_0678, 0xe349_0abc, RETURN]);
        assert!(all[0].2.starts_with("0x9abc5678 takes two instructions"), "{}", all[0].2);
        assert!(places(&[0xe590_0000, 0xe349_0abc, RETURN], Kind::SplitImmediate).is_empty());
    }

    #[test]
    fn a_constant_applied_in_two_steps() {
        // bic r0, r0, #508; bic r0, r0, #3, and add r0, r1, #4096; add r0, r0, #1
        let all = found(&[0xe3c0_0f7f, 0xe3c0_0003, RETURN]);
        assert_eq!((all[0].0, all[0].1), (1, Kind::SplitImmediate));
        assert!(
            all[0].2.starts_with("clearing the bits of 0x1ff takes two instructions"),
            "{}",
            all[0].2
        );
        let all = found(&[0xe281_0a01, 0xe280_0001, RETURN]);
        assert!(all[0].2.starts_with("the sum with 0x1001 takes two instructions"), "{}", all[0].2);
        // The first sum is stored as well: two values, not one.
        assert!(
            places(&[0xe281_0a01, 0xe582_0000, 0xe280_0001, RETURN], Kind::SplitImmediate)
                .is_empty()
        );
        // The frame grows in two steps because it must.
        assert!(
            places(
                &[0xe24d_da01, 0xe24d_d010, 0xe28d_da01, 0xe28d_d010, RETURN],
                Kind::SplitImmediate
            )
            .is_empty()
        );
    }

    #[test]
    fn a_bit_set_in_a_variable_is_none() {
        assert!(places(&[0xe590_0000, 0xe380_0004, RETURN], Kind::SplitImmediate).is_empty());
    }

    #[test]
    fn a_far_field() {
        // add r3, r0, #4096; ldr r0, [r3, #4]
        assert_eq!(places(&[0xe280_3a01, 0xe593_0004, RETURN], Kind::SplitImmediate), [0]);
        // The address is used again.
        assert!(
            places(&[0xe280_3a01, 0xe593_0004, 0xe583_0008, RETURN], Kind::SplitImmediate)
                .is_empty()
        );
    }

    /// A64 counts longer offsets in units of what is accessed.
    #[test]
    fn an_offset_between_two_units_is_not_too_far() {
        let why = |words: &[u32]| found_on(Isa::A64, words).into_iter().map(|it| it.2).next();
        // add x9, x8, #1240; ldr q0, [x9]; ret
        assert_eq!(
            why(&[0x9113_6109, 0x3dc0_0120, 0xd65f_03c0]).as_deref(),
            Some(
                "it only prepares an address: the offset 1240 is no multiple of 16, as it would have to be for `ldr q0, [x9]` at 0x4"
            )
        );
        // add x9, x8, #5, lsl #12; ldr w0, [x9]; ret
        assert_eq!(
            why(&[0x9140_1509, 0xb940_0120, 0xd65f_03c0]).as_deref(),
            Some(
                "it only prepares an address: the offset 20480 is too far for `ldr w0, [x9]` at 0x4"
            )
        );
    }

    /// What is found at each place of a function whose loads bring these constants.
    fn loaded(words: &[u32], constants: &[(u64, u32)]) -> Vec<(usize, String)> {
        let mut function = function(words);
        function.constants = constants.iter().copied().collect();
        let subject = Subject::of(&function);
        let mut findings = Vec::new();
        find(&subject, &mut findings);
        findings.into_iter().map(|finding| (finding.idx, finding.why)).collect()
    }

    const LOAD0: u32 = 0xe59f_0008; // ldr r0, [pc, #8]
    const LOAD1: u32 = 0xe59f_1008;
    const SUM: u32 = 0xe080_0001; // add r0, r0, r1

    #[test]
    fn a_constant_in_memory_that_no_instruction_makes_is_none() {
        assert!(loaded(&[LOAD0, RETURN], &[(0, 0x1234_5678)]).is_empty());
        // Two instructions make it, which is no better; an address of the linker's is not known.
        assert!(loaded(&[LOAD0, RETURN], &[(0, 0x1004)]).is_empty());
        assert!(loaded(&[LOAD0, RETURN], &[]).is_empty());
        // Far from the other one.
        assert!(
            loaded(&[LOAD0, LOAD1, SUM, RETURN], &[(0, 0x4000_0404), (4, 0x5000_0808)]).is_empty()
        );
    }

    #[test]
    fn a_constant_in_memory_that_one_instruction_makes() {
        let all = loaded(&[LOAD0, RETURN], &[(0, 0x3fc00)]);
        assert_eq!(all, [(0, "0x3fc00 is loaded, and one instruction would make it".to_owned())]);
        let all = loaded(&[LOAD0, RETURN], &[(0, 0xffff_ff00)]);
        assert_eq!(
            all,
            [(0, "0xffffff00 is loaded, and one instruction would make it".to_owned())]
        );
    }

    #[test]
    fn how_far_something_is_is_no_constant_of_the_source() {
        // ldr r0, [pc, #8]; add r0, pc, r0
        assert!(loaded(&[LOAD0, 0xe08f_0000, RETURN], &[(0, 0xa60)]).is_empty());
        assert_eq!(loaded(&[LOAD0, 0xe081_0000, RETURN], &[(0, 0xa60)]).len(), 1);
    }

    #[test]
    fn a_constant_in_memory_near_one_that_is_there() {
        let all = loaded(&[LOAD0, LOAD1, SUM, RETURN], &[(0, 0x4000_0404), (4, 0x4000_0504)]);
        assert_eq!(all, [(1, "0x40000504 is loaded, and it is r0 plus 256".to_owned())]);
        let all = loaded(&[LOAD0, LOAD1, SUM, RETURN], &[(0, 0x4000_0404), (4, 0x4000_0400)]);
        assert_eq!(all, [(1, "0x40000400 is loaded, and it is r0 less 4".to_owned())]);
        // r0 was changed in between.
        assert!(
            loaded(
                &[LOAD0, 0xe280_0001, LOAD1, SUM, RETURN],
                &[(0, 0x4000_0404), (8, 0x4000_0504)]
            )
            .is_empty()
        );
    }
}
