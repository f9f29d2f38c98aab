//! Calls on the hot path to functions of a few instructions.

use super::Subject;
use crate::decode::code::Flow;
use crate::finding::{Finding, Kind, Way};
use crate::program::names::shown;

/// A longer function is not worth a copy at each call: compilers inline about so much by themselves
/// where they see it.
const INSTRUCTIONS_MAX: usize = 16;

pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for (idx, instruction) in subject.function.instructions.iter().enumerate() {
        let is_call = matches!(instruction.flow, Flow::Call { .. });
        let Some(name) = subject
            .function
            .callees
            .get(&instruction.address)
            .filter(|_| is_call && subject.is_hot[idx])
        else {
            continue;
        };
        let Some(callee) = subject.callees.get(name).filter(|callee| {
            callee.is_straight && callee.is_ordinary && callee.n_instructions <= INSTRUCTIONS_MAX
        }) else {
            continue;
        };
        let (n, name) = (callee.n_instructions, shown(name));
        let why = match callee.is_assembly {
            true => format!(
                "`{name}` is assembly of {n} instructions: the call and the return come on top, and what it may change is unknown"
            ),
            false => {
                format!(
                    "`{name}` has {n} instructions and calls nobody: the call and the return come on top"
                )
            }
        };
        let mut finding = subject.finding(idx, Kind::Call, why);
        // The call and the return.
        finding.cycles = 2;
        if !callee.is_assembly {
            finding.ways = vec![Way::Inline];
        }
        findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::tests::function;
    use super::super::{Callee, needed};
    use super::*;

    fn check(callee: Callee, is_hot: bool) -> Option<String> {
        let mut function = function(&[0xeb00_0100, 0xe8bd_8010]); // bl; pop {r4, pc}
        function.callees.insert(0, "barrier".into());
        let callees = BTreeMap::from([("barrier".to_owned(), callee)]);
        let subject = Subject { is_hot: vec![is_hot; 2], callees, ..Subject::of(&function) };
        needed(&subject).into_iter().find(|it| it.kind == Kind::Call).map(|found| found.why)
    }

    #[test]
    fn a_few_instructions() {
        let callee =
            Callee { n_instructions: 3, is_straight: true, is_assembly: false, is_ordinary: true };
        assert_eq!(
            check(callee, true).as_deref(),
            Some(
                "`barrier` has 3 instructions and calls nobody: the call and the return come on top"
            )
        );
        let callee =
            Callee { n_instructions: 13, is_straight: true, is_assembly: false, is_ordinary: true };
        assert!(
            check(callee, true)
                .is_some_and(|check| check.starts_with("`barrier` has 13 instructions"))
        );
        let callee =
            Callee { n_instructions: 3, is_straight: true, is_assembly: true, is_ordinary: true };
        assert!(
            check(callee, true)
                .is_some_and(|check| check.starts_with("`barrier` is assembly of 3 instructions"))
        );
    }

    #[test]
    fn many_instructions_loops_and_cold_calls_are_left_alone() {
        let callee = |n_instructions, is_straight| Callee {
            n_instructions,
            is_straight,
            is_assembly: false,
            is_ordinary: true,
        };
        assert_eq!(check(callee(17, true), true), None);
        assert_eq!(check(callee(3, false), true), None);
        assert_eq!(check(callee(3, true), false), None);
        assert_eq!(check(Callee { is_ordinary: false, ..callee(3, true) }, true), None);
    }
}
