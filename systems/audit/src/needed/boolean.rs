//! Truth values that are put into a register only to be tested.
//!
//! ```text
//! cmp   r0, r1         cmp r0, r1          cmp  x0, x1       slt  a3, a0, a1
//! movlt r3, #1         blt ...             cset w3, lt       bnez a3, ...
//! movge r3, #0                             cbnz w3, ...
//! cmp   r3, #0
//! bne   ...
//! ```

use super::Subject;
use crate::decode::Isa;
use crate::decode::code::{Class, Flow, Op, Operation, Reg, Value};
use crate::finding::{Finding, Kind};

pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for idx in 0..subject.function.instructions.len() {
        let Some(reg) = tested(subject, idx) else { continue };
        if subject.bits.demanded(idx, reg) != 0 {
            continue;
        }
        let Some(writers) = builders(subject, idx, reg) else { continue };
        let first = writers[0];
        // A branch on a register is one instruction; a comparison stands beside its branch.
        let is_branch = matches!(subject.at(idx).flow, Flow::Branch { .. });
        let by = match subject.at(first).operation.map(|operation| operation.op) {
            Some(Op::SetLess { .. }) => "a branch that compares does both",
            _ => "the flags were there before",
        };
        let why = format!(
            "{} is 0 or 1 and only tested by {}; {by}",
            subject.name(reg),
            subject.named(idx)
        );
        let mut finding = subject.finding(first, Kind::BuiltBoolean, why);
        finding.cycles = writers.len() as u32 + u32::from(!is_branch);
        findings.push(finding);
    }
}

/// The register that `idx` compares with 0 or 1, or whose lowest bit it tests.
fn tested(subject: &Subject<'_>, idx: usize) -> Option<Reg> {
    let instruction = subject.at(idx);
    let is_branch = |operation: &Operation| matches!(operation.op, Op::BranchIf(_));
    if let Some(operation) = instruction.operation.filter(|operation| !is_branch(operation)) {
        let Value::Reg(reg) = operation.a else { return None };
        let is_test = match (operation.op, operation.b) {
            (Op::Compare, Value::Const(it)) => it <= 1,
            (Op::Test, Value::Const(it)) => it & 1 != 0,
            (Op::Test, Value::Reg(other)) => other == reg,
            _ => false,
        };
        return is_test.then_some(reg);
    }
    // `cbz`, `tbz`, `beqz`: a branch that reads one register and no flag.
    let is_branch = matches!(instruction.flow, Flow::Branch { is_conditional: true, .. });
    let [read] = instruction.reads.as_slice() else { return None };
    (is_branch && !subject.is_flag(read.reg)).then_some(read.reg)
}

/// The instructions just before `idx` that put 0 or 1 into `reg`: one that does it for any
/// condition, or two under conditions.
fn builders(subject: &Subject<'_>, idx: usize, reg: Reg) -> Option<Vec<usize>> {
    let mut writers = Vec::new();
    let mut is_conditional = false;
    for place in (0..idx).rev() {
        if !subject.is_straight(place, idx) {
            return None;
        }
        let instruction = subject.at(place);
        let writes = instruction.writes.iter().any(|write| write.reg == reg);
        if writes && writers.is_empty() && sets_truth(subject, place) {
            // What it compares must be as it was, or the branch could not compare it.
            let is_kept = instruction
                .reads
                .iter()
                .all(|read| read.reg != reg && subject.is_kept(read.reg, place, idx));
            return is_kept.then(|| vec![place]);
        }
        if instruction.reads.iter().any(|read| read.reg == reg) {
            return None;
        }
        if !writes {
            continue;
        }
        match instruction.operation.map(|operation| (operation.op, operation.a)) {
            Some((Op::Move, Value::Const(0 | 1))) => {}
            _ => return None,
        }
        writers.push(place);
        is_conditional |= instruction.is_guarded();
        if !instruction.is_guarded() {
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

/// `cset`, `setcc`, `addx %g0, 0`: a plain instruction whose result depends on flags alone. `slt`:
/// 0 or 1 by definition; with a constant only `sltiu 1` (`seqz`) and `sltu x0` (`snez`) have a
/// branch of their own.
fn sets_truth(subject: &Subject<'_>, place: usize) -> bool {
    let instruction = subject.at(place);
    if instruction.is_guarded() || !instruction.accesses.is_empty() {
        return false;
    }
    match instruction.operation.map(|operation| (operation.op, operation.a, operation.b)) {
        Some((Op::SetLess { .. }, Value::Reg(_), Value::Reg(_))) => true,
        Some((Op::SetLess { is_signed: false }, _, Value::Const(it))) => it == 1,
        Some((Op::SetLess { is_signed: false }, Value::Const(0), Value::Reg(_))) => true,
        Some(_) => false,
        None => {
            let only_flags = !instruction.reads.is_empty()
                && instruction.reads.iter().all(|read| subject.is_flag(read.reg));
            only_flags
                && instruction.class == Class::Alu
                && !matches!(subject.function.isa, Isa::A32 | Isa::T32)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{RETURN, places, places_on};
    use super::*;

    const CMP: u32 = 0xe150_0001; // cmp r0, r1
    const MOVLT: u32 = 0xb3a0_3001; // movlt r3, #1
    const MOVGE: u32 = 0xa3a0_3000; // movge r3, #0
    const CMP0: u32 = 0xe353_0000; // cmp r3, #0
    const MOVNE: u32 = 0x13a0_0007; // movne r0, #7

    #[test]
    fn built_only_to_be_tested() {
        assert_eq!(places(&[CMP, MOVLT, MOVGE, CMP0, MOVNE, RETURN], Kind::BuiltBoolean), [1]);
        assert_eq!(
            places(&[0xe3a0_3000, CMP, MOVLT, CMP0, MOVNE, RETURN], Kind::BuiltBoolean),
            [0]
        );
    }

    #[test]
    fn a_value_that_is_kept_is_none() {
        assert!(
            places(&[CMP, MOVLT, MOVGE, CMP0, MOVNE, 0xe583_3000, RETURN], Kind::BuiltBoolean)
                .is_empty()
        ); // str r3, [r3]
        assert!(places(&[CMP, MOVLT, MOVGE, 0xe1a0_0003, RETURN], Kind::BuiltBoolean).is_empty());
    }

    #[test]
    fn on_other_sets() {
        let of = |isa, words: &[u32]| places_on(isa, words, Kind::BuiltBoolean);
        let (slt, bnez, ret) = (0x00b5_26b3, 0x0006_9463, 0x0000_8067); // slt a3, a0, a1; bnez a3, .+8; ret
        assert_eq!(of(Isa::Riscv32, &[slt, bnez, ret, ret]), [0]);
        assert!(of(Isa::Riscv32, &[slt, bnez, 0x0006_8513, ret]).is_empty(), "mv a0, a3");
        assert!(
            of(Isa::Riscv32, &[slt, 0x0015_0513, bnez, ret, ret]).is_empty(),
            "addi a0, a0, 1 between"
        );
        let (cmp, cset, cbnz, ret) = (0xeb01_001f, 0x1a9f_a7e3, 0x3500_0043, 0xd65f_03c0); // cmp x0, x1; cset w3, lt; cbnz w3, .+8
        assert_eq!(of(Isa::A64, &[cmp, cset, cbnz, ret, ret]), [1]);
        assert!(
            of(Isa::A64, &[cmp, cset, 0xf100_081f, cbnz, ret, ret]).is_empty(),
            "cmp x0, #2 between"
        );
    }

    #[test]
    fn other_numbers_are_none() {
        assert!(
            places(&[CMP, 0xb3a0_3002, MOVGE, CMP0, MOVNE, RETURN], Kind::BuiltBoolean).is_empty()
        );
    }
}
