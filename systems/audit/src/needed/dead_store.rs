//! Stores into the function's own frame that nobody reads, or only a cold path.

use std::collections::BTreeMap;

use super::Subject;
use crate::code::Flow;
use crate::finding::{Edit, Finding, Kind};
use crate::frame::Slot;
use crate::spills;

/// All of them.
pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let instructions = &subject.function.instructions;
    // Behind a call the callee may have read its arguments there.
    if instructions.iter().any(|it| matches!(it.flow, Flow::Call { .. })) {
        return;
    }
    let mut loaded: BTreeMap<usize, Vec<(i64, i64)>> = BTreeMap::new();
    let accesses = spills::own_accesses(subject.function);
    let end = |slot: Slot, width: u8| slot.offset.saturating_add(i64::from(width));
    for it in accesses.iter().filter(|it| !it.is_store) {
        loaded.entry(it.slot.count).or_default().push((it.slot.offset, end(it.slot, it.width)));
    }
    for it in accesses.iter().filter(|it| it.is_store) {
        let overlaps = |(from, to): &(i64, i64)| *from < end(it.slot, it.width) && it.slot.offset < *to;
        if loaded.get(&it.slot.count).is_some_and(|them| them.iter().any(overlaps)) {
            continue;
        }
        let why = "nobody reads this place of the frame, and its address is not taken".to_owned();
        let mut finding = subject.finding(it.idx, Kind::DeadStore, why);
        finding.edit = Some(Edit::unverified("leave the variable out, unless it is `volatile`"));
        findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{RETURN, places};
    use super::*;

    const DOWN: u32 = 0xe24d_d008; // sub sp, sp, #8
    const STORE: u32 = 0xe58d_3004; // str r3, [sp, #4]
    const LOAD: u32 = 0xe59d_0004; // ldr r0, [sp, #4]
    const UP: u32 = 0xe28d_d008;

    #[test]
    fn nobody_reads_it() {
        assert_eq!(places(&[DOWN, STORE, UP, RETURN], Kind::DeadStore), [1]);
    }

    #[test]
    fn somebody_reads_it() {
        assert!(places(&[DOWN, STORE, LOAD, UP, RETURN], Kind::DeadStore).is_empty());
        assert!(places(&[DOWN, STORE, 0xe5dd_0005, UP, RETURN], Kind::DeadStore).is_empty(), "in part: ldrb r0, [sp, #5]");
    }

    #[test]
    fn somebody_may_read_it() {
        assert!(places(&[DOWN, STORE, 0xe28d_0004, UP, RETURN], Kind::DeadStore).is_empty(), "its address is the result");
        assert!(places(&[DOWN, STORE, 0xeb00_0100, UP, RETURN], Kind::DeadStore).is_empty(), "an argument of a call");
        assert!(places(&[0xe580_3004, RETURN], Kind::DeadStore).is_empty(), "str r3, [r0, #4]");
    }
}
