//! Jumps on the hot path that another layout would save, and branches that it takes.

use super::Subject;
use crate::decode::Isa;
use crate::decode::code::Flow;
use std::ops::Range;

use crate::finding::{Finding, Kind, Way};
use crate::program::function::SourceFrame;

pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for (idx, instruction) in subject.function.instructions.iter().enumerate() {
        let Flow::Branch { is_conditional, .. } = instruction.flow else { continue };
        let Some(target) = subject.function.target(idx).filter(|_| subject.is_hot[idx]) else {
            continue;
        };
        // A loop has to jump back.
        if target <= idx || !subject.is_hot[target] {
            continue;
        }
        if !is_conditional {
            // Nobody has such a jump done in each round for nothing: it is there for what branches
            // leave behind, as where a branch predictor's history is written over.
            if target == idx + 1 && begins_loop(subject, idx) {
                continue;
            }
            let far = far_branch(subject, idx, target);
            let why = match &far {
                _ if target == idx + 1 => "it jumps to the next instruction".to_owned(),
                Some(branch) => {
                    format!("{branch} does not reach its target, and skips this in place of it")
                }
                None => "its target could stand here instead".to_owned(),
            };
            let mut finding = subject.finding(idx, Kind::Jump, why);
            if far.is_none() && has_other_way(subject, idx, target) {
                finding.ways = vec![Way::Likely, Way::Cold];
            }
            findings.push(finding);
        } else if idx + 1 < subject.is_hot.len() && !subject.is_hot[idx + 1] {
            let why = "the hot path takes it; a branch that is not taken costs less";
            let mut finding = subject.finding(idx, Kind::TakenBranch, why.to_owned());
            if has_own_lines(subject, idx + 1..target) {
                finding.ways = vec![Way::Likely, Way::Cold];
            }
            findings.push(finding);
        }
    }
}

/// A branch further on leads back to `idx`.
fn begins_loop(subject: &Subject<'_>, idx: usize) -> bool {
    (idx..subject.is_hot.len()).any(|from| subject.function.leads(from, idx))
}

/// The conditional branch over a jump, if it would lead where the jump does but for the distance.
fn far_branch(subject: &Subject<'_>, idx: usize, target: usize) -> Option<String> {
    let before = idx.checked_sub(1)?;
    let is_over = matches!(subject.at(before).flow, Flow::Branch { is_conditional: true, .. })
        && subject.function.target(before) == Some(idx + 1);
    let reach = match subject.function.isa {
        Isa::Riscv32 | Isa::Riscv64 => 1 << 12,
        Isa::A64 if subject.at(before).text.starts_with("tb") => 1 << 15,
        Isa::A64 => 1 << 20,
        // Their conditional branches reach as far as the others, or compilers lay code out
        // otherwise.
        Isa::A32 | Isa::T32 | Isa::Sparc | Isa::X86 => return None,
    };
    let is_far = subject.at(target).address.abs_diff(subject.at(before).address) >= reach;
    (is_over && is_far).then(|| subject.named(before))
}

/// The branch before a jump and its target whose other way lies between them: neither a part of the
/// hot path, nor of a loop that comes back to it, nor a case that only a computed jump leads to,
/// nor a second form that the compiler made of lines of the path.
fn has_other_way(subject: &Subject<'_>, idx: usize, target: usize) -> bool {
    let between = idx + 1..target;
    let is_between = |number: &usize| between.contains(number);
    let n = subject.function.instructions.len();
    let leads = |way: &usize| subject.function.target(*way).is_some_and(|to| is_between(&to));
    let mut cases = (0..n).filter_map(|jump| subject.function.cases_of(jump)).flatten();
    if cases.any(|case| is_between(&case)) {
        return false;
    }
    let ways_in: Vec<usize> = (0..n).filter(|way| !is_between(way) && leads(way)).collect();
    !ways_in.is_empty()
        && ways_in.iter().all(|way| *way < idx)
        && between.clone().all(|between| !subject.is_hot[between])
        && has_own_lines(subject, between)
}

/// Some line of this code has no instruction on the hot path. A compiler makes several loops of
/// one: unrolled, with vectors, for the rest.
fn has_own_lines(subject: &Subject<'_>, code: Range<usize>) -> bool {
    let line = |idx: usize| subject.function.frames[idx].first();
    let on_path = |frame: &SourceFrame| {
        (0..subject.is_hot.len()).any(|idx| subject.is_hot[idx] && line(idx) == Some(frame))
    };
    code.filter_map(line).any(|line| !on_path(line))
}

#[cfg(test)]
mod tests {
    use super::super::needed;
    use super::super::tests::{RETURN, function};
    use super::*;

    fn check(words: &[u32], cold: &[usize], kind: Kind) -> Vec<usize> {
        let function = function(words);
        let is_hot = (0..words.len()).map(|idx| !cold.contains(&idx)).collect();
        let subject = Subject { is_hot, ..Subject::of(&function) };
        needed(&subject).iter().filter(|found| found.kind == kind).map(|found| found.idx).collect()
    }

    const CMP: u32 = 0xe350_0000;
    const BEQ_OVER_1: u32 = 0x0a00_0000;
    const B_OVER_1: u32 = 0xea00_0000;
    const MOV: u32 = 0xe3a0_0001;

    #[test]
    fn a_branch_that_the_hot_path_takes() {
        assert_eq!(check(&[CMP, BEQ_OVER_1, MOV, RETURN], &[2], Kind::TakenBranch), [1]);
        assert!(check(&[CMP, BEQ_OVER_1, MOV, RETURN], &[], Kind::TakenBranch).is_empty());
    }

    #[test]
    fn a_jump_over_something() {
        assert_eq!(check(&[B_OVER_1, MOV, RETURN], &[1], Kind::Jump), [0]);
        assert!(
            check(&[B_OVER_1, MOV, RETURN], &[0, 1], Kind::Jump).is_empty(),
            "nobody comes here"
        );
    }

    /// As `b 1f; 1: subs r0, r0, #1; bne` does, which fills a branch predictor's history.
    #[test]
    fn a_jump_of_each_round_to_the_next_instruction_is_meant() {
        const NEXT: u32 = 0xeaff_ffff;
        assert_eq!(check(&[NEXT, MOV, RETURN], &[], Kind::Jump), [0]);
        // subs r0, r0, #1; bne to the jump.
        assert!(check(&[NEXT, 0xe250_0001, 0x1aff_fffc, RETURN], &[], Kind::Jump).is_empty());
    }

    /// Whether the only jump comes with a way to try.
    fn has_way(words: &[u32], cold: &[usize]) -> bool {
        let mut function = function(words);
        // Each comes from a line of its own.
        let frame =
            |line: u32| SourceFrame { function: "f".to_owned(), file: "f.c".to_owned(), line };
        function.frames = (1..=words.len() as u32).map(|line| vec![frame(line)]).collect();
        let is_hot = (0..words.len()).map(|idx| !cold.contains(&idx)).collect();
        let subject = Subject { is_hot, ..Subject::of(&function) };
        let found = needed(&subject);
        let jumps: Vec<&Finding> = found.iter().filter(|found| found.kind == Kind::Jump).collect();
        assert_eq!(jumps.len(), 1);
        !jumps[0].ways.is_empty()
    }

    #[test]
    fn only_the_other_way_of_a_branch_can_be_marked() {
        const BEQ_TO_4: u32 = 0x0a00_0001;
        const BNE_TO_2: u32 = 0x1aff_fffc;
        const BX_R1: u32 = 0xe12f_ff11;
        // `beq` to the other way, after the jump over it.
        assert!(has_way(&[CMP, BEQ_TO_4, MOV, B_OVER_1, MOV, RETURN], &[4]));
        // The body of a loop whose test is at its end, hot or not.
        assert!(!has_way(&[MOV, B_OVER_1, MOV, CMP, BNE_TO_2, RETURN], &[]));
        assert!(!has_way(&[MOV, B_OVER_1, MOV, CMP, BNE_TO_2, RETURN], &[2]));
        // A case: nothing but the computed jump leads there.
        assert!(!has_way(&[MOV, B_OVER_1, MOV, CMP, BX_R1], &[2]));
    }

    #[test]
    fn a_loop_has_to_jump_back() {
        assert!(check(&[MOV, 0xeaff_fffd], &[], Kind::Jump).is_empty());
    }
}
