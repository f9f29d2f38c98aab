//! Flags that an instruction makes which stands there anyway, or one in place of two.
//!
//! ```text
//! and r3, r0, #3       ands r3, r0, #3   sets them at once,
//! cmp r3, #0           tst r0, #3        if r3 is not read later
//!
//! mvn r3, r0, lsr #23  tst r0, #0x800000 with the condition turned round
//! ands r3, r3, #1
//! ```

use super::Subject;
use crate::decode::Isa;
use crate::decode::code::{Op, Operation, Reg, Shift, Value};
use crate::finding::{Finding, Kind};

pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    // RISC-V has no flags; x86-64's arithmetic always sets them, and two-operand forms decide what
    // is there to gain.
    if !matches!(subject.function.isa, Isa::A32 | Isa::T32 | Isa::A64 | Isa::Sparc) {
        return;
    }
    if subject.function.isa == Isa::T32 && !subject.has_wide_words() {
        return;
    }
    for idx in 0..subject.function.instructions.len() {
        if let Some(finding) = compared_with_zero(subject, idx) {
            findings.push(finding);
        } else if let Some(finding) = inverted_test(subject, idx) {
            findings.push(finding);
        }
    }
}

/// The flags that are not read after a comparison with zero may differ: carry and overflow.
fn reads_only_sign_and_zero(subject: &Subject<'_>, idx: usize) -> bool {
    let isa = subject.function.isa;
    let differs: Vec<Reg> =
        ["C", "V", "c", "v"].iter().filter_map(|name| isa.register(name)).collect();
    assert_eq!(differs.len(), 2, "{isa:?} has a carry and an overflow flag");
    differs.into_iter().all(|flag| subject.bits.demanded(idx, flag) == 0)
}

fn compared_with_zero(subject: &Subject<'_>, idx: usize) -> Option<Finding> {
    let compare = subject.at(idx).operation?;
    let (Op::Compare, Value::Reg(reg), Value::Const(0)) = (compare.op, compare.a, compare.b) else {
        return None;
    };
    let writer = subject
        .writer(idx, reg)
        .filter(|&writer| writer < idx && subject.is_straight(writer, idx))?;
    let instruction = subject.at(writer);
    let operation = instruction.operation.filter(|operation| operation.result == Some(reg))?;
    if !has_flags_form(subject.function.isa, operation.op) || operation.width != compare.width {
        return None;
    }
    let touches_flags = |place: usize| {
        let it = subject.at(place);
        it.reads.iter().any(|read| subject.is_flag(read.reg))
            || it.writes.iter().any(|write| subject.is_flag(write.reg))
    };
    let is_free = !instruction.is_guarded()
        && !subject.at(idx).is_guarded()
        && !(writer + 1..idx).any(touches_flags);
    if !is_free || touches_flags(writer) || !reads_only_sign_and_zero(subject, idx) {
        return None;
    }
    let only_test = operation.op == Op::And && is_only_reader(subject, writer, idx, reg);
    let form = match (only_test, subject.function.isa) {
        (true, Isa::A32 | Isa::T32 | Isa::A64) => "`tst` in its place does both",
        (true, _) => "`btst` in its place does both",
        (false, Isa::A32 | Isa::T32 | Isa::A64) => "its form with `s` sets the same flags",
        (false, _) => "its form with `cc` sets the same flags",
    };
    Some(subject.finding(
        idx,
        Kind::FlagIdiom,
        format!("{} computes what is compared with zero: {form}", subject.named(writer)),
    ))
}

/// True if an instruction of this kind can set the flags as well.
fn has_flags_form(isa: Isa, op: Op) -> bool {
    match op {
        Op::And | Op::AndNot | Op::Add | Op::Sub => true,
        Op::Or | Op::Xor => isa != Isa::A64,
        Op::OrNot => isa == Isa::Sparc,
        Op::Move | Op::Not | Op::ReverseSub | Op::Shift(_) => matches!(isa, Isa::A32 | Isa::T32),
        Op::ZeroExtend { .. } | Op::SignExtend { .. } | Op::Field { .. } | Op::Load { .. } => false,
        Op::Compare | Op::CompareLoaded | Op::CompareNegative => false,
        Op::Test | Op::TestEqual => false,
        Op::SetLess { .. } | Op::Multiply { .. } | Op::BranchIf(_) => false,
    }
}

fn inverted_test(subject: &Subject<'_>, idx: usize) -> Option<Finding> {
    let test = subject.at(idx).operation?;
    let (Op::And | Op::Test, Value::Reg(reg), Value::Const(mask)) = (test.op, test.a, test.b)
    else {
        return None;
    };
    let sets_flags = subject
        .at(idx)
        .writes
        .iter()
        .any(|write| subject.is_flag(write.reg) && subject.bits.demanded(idx, write.reg) != 0);
    let result_is_dead = test.result.is_none_or(|result| subject.bits.demanded(idx, result) == 0);
    if !mask.is_power_of_two()
        || !sets_flags
        || !result_is_dead
        || !reads_only_sign_and_zero(subject, idx)
    {
        return None;
    }
    let writer = subject
        .writer(idx, reg)
        .filter(|&writer| writer < idx && subject.is_straight(writer, idx))?;
    let operation = subject
        .at(writer)
        .operation
        .filter(|operation| operation.result == Some(reg) && operation.width == test.width)?;
    let (source, bit) = tested_bit(&operation, mask.trailing_zeros())?;
    let is_free = !subject.at(writer).is_guarded() && subject.is_kept(source, writer, idx);
    if !is_free || !is_only_reader(subject, writer, idx, reg) && test.result != Some(reg) {
        return None;
    }
    let (of, turned) = match operation.op {
        Op::Not => ("the inverted value", " with the condition turned round"),
        _ => ("the shifted value", ""),
    };
    let why = format!(
        "one bit of {of} is tested: `tst {}, #{:#x}`{turned}",
        subject.name(source),
        1u64 << bit
    );
    Some(subject.finding(writer, Kind::FlagIdiom, why))
}

/// Which bit of which register becomes this bit of the result, perhaps inverted.
fn tested_bit(operation: &Operation, bit: u32) -> Option<(Reg, u32)> {
    let (source, shift, by) = match (operation.op, operation.a, operation.b) {
        (Op::Not, Value::Reg(source), _) => return Some((source, bit)),
        (Op::Not | Op::Move, Value::Shifted(source, shift, by), _) => {
            (source, shift, u32::from(by))
        }
        (Op::Shift(shift), Value::Reg(source), Value::Const(by)) => (source, shift, by as u32),
        _ => return None,
    };
    let place = match shift {
        Shift::Right | Shift::RightSigned => bit.checked_add(by)?,
        Shift::Left => bit.checked_sub(by)?,
        Shift::Rotate => return None,
    };
    (place < u32::from(operation.width)).then_some((source, place))
}

/// Only `reader` reads what `writer` left in `reg`.
fn is_only_reader(subject: &Subject<'_>, writer: usize, reader: usize, reg: Reg) -> bool {
    subject.bits.demanded(reader, reg) == 0
        && !(writer + 1..reader).any(|it| subject.at(it).reads.iter().any(|read| read.reg == reg))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{RETURN, found, places, places_on};
    use super::*;

    const AND: u32 = 0xe200_3003; // and r3, r0, #3
    const CMP0: u32 = 0xe353_0000; // cmp r3, #0
    const MOVEQ: u32 = 0x03a0_0001; // moveq r0, #1
    const MOVHI: u32 = 0x83a0_0001; // movhi r0, #1

    #[test]
    fn an_and_that_is_compared_with_zero() {
        let all = found(&[AND, CMP0, MOVEQ, RETURN]);
        assert_eq!(
            all[0].2,
            "`and r3, r0, #3` at 0x0 computes what is compared with zero: `tst` in its place does both"
        );
        let all = found(&[AND, CMP0, MOVEQ, 0xe580_3000, RETURN]); // str r3, [r0]
        assert_eq!(
            all[0].2,
            "`and r3, r0, #3` at 0x0 computes what is compared with zero: its form with `s` sets the same flags"
        );
    }

    #[test]
    fn on_other_sets() {
        let of = |isa, words: &[u32]| places_on(isa, words, Kind::FlagIdiom);
        let (and, cmp, beq, ret) = (0x9240_0403, 0xf100_007f, 0x5400_0040, 0xd65f_03c0); // and x3, x0, #3; cmp x3, #0; b.eq .+8
        assert_eq!(of(Isa::A64, &[and, cmp, beq, ret, ret]), [1]);
        assert!(
            of(Isa::A64, &[and, 0x7100_007f, beq, ret, ret]).is_empty(),
            "cmp w3, #0 looks at half of it"
        );
        assert!(
            of(Isa::A64, &[and, cmp, 0x5400_0042, ret, ret]).is_empty(),
            "b.hs reads the carry"
        );
        assert!(
            of(Isa::A64, &[0xaa01_0003, cmp, beq, ret, ret]).is_empty(),
            "orr has no form with flags"
        );
        let (or, cmp, be, nop, retl) =
            (0x8212_0009, 0x80a0_6000, 0x0280_0003, 0x0100_0000, 0x81c3_e008); // or %o0, %o1, %g1; cmp %g1, 0
        assert_eq!(of(Isa::Sparc, &[or, cmp, be, nop, retl, nop]), [1]);
        assert!(
            of(Isa::Sparc, &[or, cmp, 0x0a80_0003, nop, retl, nop]).is_empty(),
            "bcs reads the carry"
        );
    }

    #[test]
    fn not_if_the_carry_is_read() {
        assert!(places(&[AND, CMP0, MOVHI, RETURN], Kind::FlagIdiom).is_empty());
    }

    #[test]
    fn not_after_a_load_or_with_another_number() {
        assert!(places(&[0xe590_3000, CMP0, MOVEQ, RETURN], Kind::FlagIdiom).is_empty());
        assert!(places(&[AND, 0xe353_0001, MOVEQ, RETURN], Kind::FlagIdiom).is_empty());
    }

    #[test]
    fn not_if_flags_are_read_between() {
        assert!(
            places(&[0xe351_0005, AND, 0x03a0_1001, CMP0, MOVEQ, RETURN], Kind::FlagIdiom)
                .is_empty()
        );
    }

    #[test]
    fn an_inverted_bit() {
        let mvn = 0xe1e0_3000; // mvn r3, r0
        let ands = 0xe213_3001; // ands r3, r3, #1
        assert_eq!(places(&[mvn, ands, MOVEQ, RETURN], Kind::FlagIdiom), [0]);
        assert!(
            places(&[mvn, 0xe213_3003, MOVEQ, RETURN], Kind::FlagIdiom).is_empty(),
            "two bits cannot be turned round"
        );
    }

    #[test]
    fn a_shifted_bit() {
        // mvn r3, r0, lsr #23; ands r3, r3, #1; bne; and lsr r3, r0, #4; tst r3, #8
        let all = found(&[0xe1e0_3ba0, 0xe213_3001, 0x1a00_0000, RETURN, RETURN]);
        assert_eq!((all[0].0, all[0].1), (0, Kind::FlagIdiom));
        assert_eq!(
            all[0].2,
            "one bit of the inverted value is tested: `tst r0, #0x800000` with the condition turned round"
        );
        let all = found(&[0xe1a0_3220, 0xe313_0008, MOVEQ, RETURN]);
        assert_eq!(all[0].2, "one bit of the shifted value is tested: `tst r0, #0x80`");
        // Bit 8 of a value shifted left by 12 is a zero: no bit of the source.
        assert!(places(&[0xe1a0_3600, 0xe313_0c01, MOVEQ, RETURN], Kind::FlagIdiom).is_empty());
    }
}
