//! Extensions and masks that change no bit that matters.
//!
//! ```text
//! ldrb r3, [r0]        the load has cleared bits 8 to 31
//! and  r3, r3, #255    so this changes nothing: known bits
//! ```
//!
//! Into another register it is a copy besides, which a plain move would cost as much as: it is told
//! of only if what reads the copy could read its source, or what makes the source could make the
//! copy.

use super::{Subject, is_load};
use crate::decode::code::{Flow, Op, Reg, Value};
use crate::facts::bits::{Proof, Writer};
use crate::facts::frame::successors;
use crate::finding::{Finding, Kind, Way};

pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for idx in 0..subject.function.instructions.len() {
        let Some(proof) = subject.bits.is_copy(subject.function, idx) else { continue };
        let operation = subject.at(idx).operation.expect("what copies has an operation");
        let (Value::Reg(source), Some(result)) = (operation.a, operation.result) else { continue };
        let Some(fill) = without_copy(subject, idx, source, result) else { continue };
        let why = match proof {
            Proof::Known => format!("known bits: {}", known(subject, idx, operation.op)),
            Proof::Demanded => format!("demanded bits: {}", demanded(subject, idx)),
            Proof::Both => format!(
                "known and demanded bits: what it changes is known or not read; {}",
                demanded(subject, idx)
            ),
        };
        let mut finding = subject.finding(idx, Kind::RedundantExtension, why);
        finding.fill = fill;
        finding.ways = vec![Way::Wider];
        findings.push(finding);
    }
}

/// What would have to change for `result` to go; none if it is there because two registers hold
/// the value for a while, or because somebody wants it in this one.
fn without_copy(
    subject: &Subject<'_>,
    idx: usize,
    source: Reg,
    result: Reg,
) -> Option<Option<String>> {
    let (from, to) = (subject.name(source), subject.name(result));
    if source == result {
        Some(None)
    } else if readers_could(subject, idx, source, result) {
        Some(Some(format!("read {from} in place of {to}")))
    } else {
        let writer = subject.writer(idx, source).filter(|writer| {
            writer < &idx && writer_could(subject, *writer, idx, source, result)
        })?;
        Some(Some(format!("write {to} in place of {from} in {}", subject.named(writer))))
    }
}

/// All that reads `result` after instruction `idx` would find the same in `source`.
fn readers_could(subject: &Subject<'_>, idx: usize, source: Reg, result: Reg) -> bool {
    let conventions = subject.function.isa.conventions();
    let is_free = |reg: &Reg| Some(*reg) != conventions.zero;
    let mut is_seen = vec![false; subject.function.instructions.len()];
    let mut open = successors(subject.function, idx);
    while let Some(place) = open.pop() {
        if std::mem::replace(&mut is_seen[place], true) {
            continue;
        }
        let it = subject.at(place);
        let is_read = it.reads.iter().any(|read| read.reg == result);
        if is_read && subject.bits.before(place, result).writer != Writer::At(idx) {
            return false;
        }
        let leaves = !matches!(it.flow, Flow::Next | Flow::Branch { .. } | Flow::Stop)
            || matches!(it.flow, Flow::Branch { .. }) && subject.function.target(place).is_none();
        // A call wants its arguments where they are, and the caller what is returned or kept.
        if leaves && wants(subject, place, result) {
            return false;
        }
        let is_over = !it.is_guarded() && it.writes.iter().any(|write| write.reg == result);
        if is_over || subject.bits.demanded(place, result) == 0 {
            continue;
        }
        let is_lost = it.writes.iter().any(|write| write.reg == source)
            || matches!(it.flow, Flow::Call { .. }) && conventions.scratch.contains(&source);
        if is_lost && is_free(&source) {
            return false;
        }
        open.extend(successors(subject.function, place));
    }
    true
}

/// Control leaves the function there for somebody who may read `reg`.
fn wants(subject: &Subject<'_>, place: usize, reg: Reg) -> bool {
    let conventions = subject.function.isa.conventions();
    let is_call = matches!(subject.at(place).flow, Flow::Call { .. });
    conventions.arguments.contains(&reg)
        || !is_call && (conventions.results.contains(&reg) || conventions.saved.contains(&reg))
}

/// Nothing needs `source` but what makes it at `writer` and the copy at `idx`.
fn writer_could(
    subject: &Subject<'_>,
    writer: usize,
    idx: usize,
    source: Reg,
    result: Reg,
) -> bool {
    let made = subject.at(writer);
    let touches = |place: usize| {
        let it = subject.at(place);
        let reads = it.reads.iter().map(|read| read.reg);
        reads.chain(it.writes.iter().map(|write| write.reg)).any(|reg| reg == result)
    };
    matches!(made.flow, Flow::Next)
        && made.writes.iter().filter(|write| !subject.is_flag(write.reg)).count() == 1
        && !made.is_guarded()
        && subject.is_straight(writer, idx)
        && subject.is_kept(source, writer, idx)
        && subject.bits.demanded(idx, source) == 0
        && !(writer + 1..idx).any(touches)
}

/// What has put the bits in place.
fn known(subject: &Subject<'_>, idx: usize, op: Op) -> String {
    let is_signed = matches!(op, Op::SignExtend { .. } | Op::Field { is_signed: true, .. });
    let what = if is_signed { "has extended the sign" } else { "has the bits" };
    let Some(Value::Reg(source)) = subject.at(idx).operation.map(|operation| operation.a) else {
        return String::new();
    };
    match subject.writer(idx, source) {
        Some(writer) if is_load(subject.at(writer)) => {
            // What type it is, no load shows: RISC-V extends the sign of all that has 32 bits.
            let bits = 8 * subject.at(writer).accesses[0].width;
            format!("{} loads {bits} bits and {what} already", subject.named(writer))
        }
        Some(writer) => format!("{} {what} already", subject.named(writer)),
        None => format!("{} {what} already, on every way here", subject.name(source)),
    }
}

/// What reads the result, and how little of it.
fn demanded(subject: &Subject<'_>, idx: usize) -> String {
    let Some(result) = subject.at(idx).operation.and_then(|operation| operation.result) else {
        return String::new();
    };
    let bits = 64 - subject.bits.demanded(idx, result).leading_zeros();
    let readers = subject.readers(idx, result).unwrap_or_default();
    match readers.first() {
        Some(&reader) => format!(
            "only bits 0 to {} are read, by {}",
            bits.saturating_sub(1),
            subject.named(reader)
        ),
        None => format!("only bits 0 to {} are read", bits.saturating_sub(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{RETURN, found, places, places_on};
    use super::*;
    use crate::decode::Isa;

    const LDRB: u32 = 0xe5d0_3000; // ldrb r3, [r0]
    const UXTB: u32 = 0xe6ef_0073; // uxtb r0, r3
    const STRB: u32 = 0xe5c1_0000; // strb r0, [r1]

    #[test]
    fn a_loaded_byte_needs_no_extension() {
        let all = found(&[LDRB, UXTB, RETURN]);
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!((all[0].0, all[0].1), (1, Kind::RedundantExtension));
        assert_eq!(
            all[0].2,
            "known bits: `ldrb r3, [r0]` at 0x0 loads 8 bits and has the bits already"
        );
    }

    #[test]
    fn a_stored_byte_needs_none_either() {
        let all = found(&[UXTB, STRB, 0xe3a0_0000, RETURN]); // mov r0, #0
        assert_eq!(all[0].2, "demanded bits: only bits 0 to 7 are read, by `strb r0, [r1]` at 0x4");
    }

    fn is_told(isa: Isa, words: &[u32]) -> bool {
        !places_on(isa, words, Kind::RedundantExtension).is_empty()
    }

    /// What clears the upper half is A64's plain move.
    #[test]
    fn a_copy_that_two_registers_need_is_none() {
        // mov w9, w1; ldr w1, [x0]; add w0, w9, w1; ret
        assert!(!is_told(Isa::A64, &[0x2a01_03e9, 0xb940_0001, 0x0b01_0120, 0xd65f_03c0]));
        // sext.w a4, a1; lw a1, 0(a0); addw a0, a4, a1; ret
        let rv64 = [0x0005_871b, 0x0005_2583, 0x00b7_053b, 0x0000_8067];
        assert!(!is_told(Isa::Riscv64, &rv64));
        // ldrb r3, [r0]; uxtb r2, r3; add r3, r3, #1; add r0, r2, r3; bx lr
        assert!(!is_told(Isa::A32, &[LDRB, 0xe6ef_2073, 0xe283_3001, 0xe082_0003, RETURN]));
        // Who is called wants it there: ldr w9, [x0]; mov w1, w9; add x0, x0, x9; b elsewhere
        assert!(!is_told(Isa::A64, &[0xb940_0009, 0x2a09_03e1, 0x8b09_0000, 0x1400_0100]));
        // Another way brings another value: cbz x1, 3; mov w9, w2; b 4; 3: ldr w9, [x0]; 4: add w0,
        // w9, w2; ret
        let join = [0xb400_0061, 0x2a02_03e9, 0x1400_0002, 0xb940_0009, 0x0b02_0120, 0xd65f_03c0];
        assert!(!is_told(Isa::A64, &join));
    }

    #[test]
    fn a_copy_that_could_be_its_source_is_one() {
        // ldr w2, [x1]; mov w3, w2; add x0, x0, x3; ret
        assert!(is_told(Isa::A64, &[0xb940_0022, 0x2a02_03e3, 0x8b03_0000, 0xd65f_03c0]));
        // lw a1, 0(a0); sext.w a4, a1; addw a0, a0, a4; ret
        assert!(is_told(Isa::Riscv64, &[0x0005_2583, 0x0005_871b, 0x00e5_053b, 0x0000_8067]));
        // The load could put it where it is returned: ldrb w2, [x1]; and w0, w2, #0xff; ret
        assert!(is_told(Isa::A64, &[0x3940_0022, 0x1200_1c40, 0xd65f_03c0]));
    }

    #[test]
    fn a_returned_word_needs_it() {
        assert!(places(&[UXTB, RETURN], Kind::RedundantExtension).is_empty());
        assert!(places(&[0xe590_3000, UXTB, RETURN], Kind::RedundantExtension).is_empty()); // ldr r3, [r0]
    }

    #[test]
    fn a_sign_is_not_a_zero() {
        let sxtb = 0xe6af_0073; // sxtb r0, r3
        assert!(places(&[LDRB, sxtb, RETURN], Kind::RedundantExtension).is_empty());
        let ldrsb = 0xe1d0_30d0; // ldrsb r3, [r0]
        assert_eq!(places(&[ldrsb, sxtb, RETURN], Kind::RedundantExtension), [1]);
        assert!(places(&[ldrsb, UXTB, RETURN], Kind::RedundantExtension).is_empty());
    }

    #[test]
    fn a_mask_whose_flags_are_read_is_needed() {
        let ands = 0xe213_00ff; // ands r0, r3, #255
        let moveq = 0x03a0_1001; // moveq r1, #1
        assert!(places(&[LDRB, ands, moveq, RETURN], Kind::RedundantExtension).is_empty());
        assert_eq!(places(&[LDRB, ands, RETURN], Kind::RedundantExtension), [1]);
    }

    #[test]
    fn one_way_without_the_proof_is_enough_to_keep_it() {
        // cmp r1, #0; beq over the load
        assert!(
            places(&[0xe351_0000, 0x0a00_0000, LDRB, UXTB, RETURN], Kind::RedundantExtension)
                .is_empty()
        );
    }
}
