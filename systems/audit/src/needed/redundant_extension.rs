//! Extensions and masks that change no bit that matters.
//!
//! ```text
//! ldrb r3, [r0]        the load has cleared bits 8 to 31
//! and  r3, r3, #255    so this changes nothing: known bits
//! ```

use super::{Subject, is_load, type_name};
use crate::decode::code::{Op, Value};
use crate::facts::bits::Proof;
use crate::finding::{Finding, Kind, Way};

pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for idx in 0..subject.function.instructions.len() {
        let Some(proof) = subject.bits.is_copy(subject.function, idx) else { continue };
        let operation = subject.at(idx).operation.expect("what copies has an operation");
        let (Value::Reg(source), Some(result)) = (operation.a, operation.result) else { continue };
        let why = match proof {
            Proof::Known => format!("known bits: {}", known(subject, idx, operation.op)),
            Proof::Demanded => format!("demanded bits: {}", demanded(subject, idx)),
            Proof::Both => format!(
                "known and demanded bits: what it changes is known or not read; {}",
                demanded(subject, idx)
            ),
        };
        let mut finding = subject.finding(idx, Kind::RedundantExtension, why);
        if source != result {
            finding.fill = Some(format!(
                "read {} in place of {}, or a plain move",
                subject.name(source),
                subject.name(result)
            ));
        }
        finding.ways = vec![Way::Wider];
        findings.push(finding);
    }
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
            let load = subject.at(writer);
            let signed = matches!(
                load.operation.map(|operation| operation.op),
                Some(Op::Load { is_signed: true })
            );
            let name = type_name(8 * load.accesses[0].width, signed);
            format!("{} loads {name} and {what} already", subject.named(writer))
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
    use super::super::tests::{RETURN, found, places};
    use super::*;

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
            "known bits: `ldrb r3, [r0]` at 0x0 loads an unsigned type of 8 bits and has the bits already"
        );
    }

    #[test]
    fn a_stored_byte_needs_none_either() {
        let all = found(&[UXTB, STRB, 0xe3a0_0000, RETURN]); // mov r0, #0
        assert_eq!(all[0].2, "demanded bits: only bits 0 to 7 are read, by `strb r0, [r1]` at 0x4");
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
