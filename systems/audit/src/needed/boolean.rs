//! Truth values that are put into a register only to be tested.
//!
//! ```text
//! cmp   r0, r1         cmp r0, r1
//! movlt r3, #1         blt ...
//! movge r3, #0
//! cmp   r3, #0
//! bne   ...
//! ```

use super::Subject;
use crate::code::{Op, Value};
use crate::finding::{Edit, Finding, Kind};

/// All of them.
pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for idx in 0..subject.function.instructions.len() {
        let Some(operation) = subject.at(idx).operation else { continue };
        let is_test = match (operation.op, operation.b) {
            (Op::Compare, Value::Const(it)) => it <= 1,
            (Op::Test, Value::Const(it)) => it & 1 != 0,
            _ => false,
        };
        let Value::Reg(reg) = operation.a else { continue };
        if !is_test || subject.bits.demanded(idx, reg) != 0 {
            continue;
        }
        let Some(writers) = builders(subject, idx, reg) else { continue };
        let first = writers[0];
        let why = format!("{} is 0 or 1 and only tested by {}; the flags were there before", subject.name(reg), subject.named(idx));
        let mut finding = subject.finding(first, Kind::BuiltBoolean, why);
        finding.cycles = writers.len() as u32 + 1;
        finding.edit = Some(Edit::unverified("branch on the comparison itself instead of on a variable that holds its result"));
        findings.push(finding);
    }
}

/// The instructions just before `idx` that put 0 or 1 into `reg`, under conditions.
fn builders(subject: &Subject<'_>, idx: usize, reg: crate::code::Reg) -> Option<Vec<usize>> {
    let mut writers = Vec::new();
    let mut is_conditional = false;
    for place in (0..idx).rev() {
        if !subject.is_straight(place, idx) {
            return None;
        }
        let instruction = subject.at(place);
        if instruction.reads.iter().any(|it| it.reg == reg) {
            return None;
        }
        if !instruction.writes.iter().any(|it| it.reg == reg) {
            continue;
        }
        match instruction.operation.map(|it| (it.op, it.a)) {
            Some((Op::Move, Value::Const(0 | 1))) => {}
            _ => return None,
        }
        writers.push(place);
        is_conditional |= instruction.is_guarded;
        if !instruction.is_guarded {
            break;
        }
        // Two that exclude each other leave nothing of what was there before.
        if writers.len() == 2 {
            break;
        }
    }
    writers.reverse();
    (is_conditional && writers.len() == 2).then_some(writers)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{RETURN, places};
    use super::*;

    const CMP: u32 = 0xe150_0001; // cmp r0, r1
    const MOVLT: u32 = 0xb3a0_3001; // movlt r3, #1
    const MOVGE: u32 = 0xa3a0_3000; // movge r3, #0
    const CMP0: u32 = 0xe353_0000; // cmp r3, #0
    const MOVNE: u32 = 0x13a0_0007; // movne r0, #7

    #[test]
    fn built_only_to_be_tested() {
        assert_eq!(places(&[CMP, MOVLT, MOVGE, CMP0, MOVNE, RETURN], Kind::BuiltBoolean), [1]);
        assert_eq!(places(&[0xe3a0_3000, CMP, MOVLT, CMP0, MOVNE, RETURN], Kind::BuiltBoolean), [0]);
    }

    #[test]
    fn a_value_that_is_kept_is_none() {
        assert!(places(&[CMP, MOVLT, MOVGE, CMP0, MOVNE, 0xe583_3000, RETURN], Kind::BuiltBoolean).is_empty()); // str r3, [r3]
        assert!(places(&[CMP, MOVLT, MOVGE, 0xe1a0_0003, RETURN], Kind::BuiltBoolean).is_empty());
    }

    #[test]
    fn other_numbers_are_none() {
        assert!(places(&[CMP, 0xb3a0_3002, MOVGE, CMP0, MOVNE, RETURN], Kind::BuiltBoolean).is_empty());
    }
}
