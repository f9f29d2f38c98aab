//! Stores that are never read: into the function's own frame, and to a place that the hot path
//! writes again before anything can look. Where side exits lie between the two, the first is dead
//! in part: only they see it.

use std::collections::BTreeMap;

use super::Subject;
use crate::decode::code::{Access, Class, Flow, Instruction};
use crate::facts::cases::{entries, has_hidden_ways};
use crate::facts::frame::Slot;
use crate::facts::spills::{self, OwnAccess};
use crate::finding::{Finding, Kind};

pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    unread(subject, findings);
    // What fixes a fault up may look at the first of two stores.
    if has_hidden_ways(subject.function) {
        return;
    }
    // What is stored twice in assembly is stored to a device, where it is not to the frame.
    let all = 0..subject.function.instructions.len();
    for idx in all.filter(|idx| !subject.is_assembly(*idx)) {
        findings.extend(overwritten(subject, idx));
    }
}

/// A store whose place is stored to again, with nothing between that reads memory, calls
/// or changes the base.
fn overwritten(subject: &Subject<'_>, idx: usize) -> Option<Finding> {
    let first = plain_store(subject, idx).filter(|_| !subject.at(idx).orders_others())?;
    let base = first.base?;
    let moves_base = |place: usize| subject.at(place).writes.iter().any(|write| write.reg == base);
    if moves_base(idx) {
        return None;
    }
    let mut exits = Vec::new();
    for place in idx + 1..subject.function.instructions.len() {
        let instruction = subject.at(place);
        if !subject.is_hot[place] {
            return None;
        }
        if let Some(second) = plain_store(subject, place) {
            let covers = second.disp <= first.disp
                && first.disp + i64::from(first.width) <= second.disp + i64::from(second.width);
            if second.base == Some(base) && covers {
                return Some(dead(subject, idx, place, &exits));
            }
        }
        match instruction.flow {
            Flow::Next => {}
            // It leaves the hot path, or comes back to it further on: only the fall-through is
            // followed.
            Flow::Branch { is_conditional: true, .. }
                if subject.function.target(place).is_none_or(|target| !subject.is_hot[target]) =>
            {
                exits.push(place);
            }
            _ => return None,
        }
        let enters = |at: usize| subject.function.leads(at, place + 1);
        let is_case = entries(subject.function).get(place + 1).is_some_and(|entry| *entry);
        let reads = instruction.accesses.iter().any(|access| !access.is_store);
        // What is released has to be there before, and a place that is watched is somebody's.
        if reads
            || instruction.is_barrier()
            || moves_base(place)
            || is_case
            || (0..subject.function.instructions.len()).any(enters)
        {
            return None;
        }
    }
    None
}

/// The access of an instruction that stores one value whatever the flags are, to a
/// register and a constant.
fn plain_store(subject: &Subject<'_>, idx: usize) -> Option<Access> {
    let instruction = subject.at(idx);
    let [access] = instruction.accesses.as_slice() else { return None };
    let is_plain = matches!(instruction.class, Class::Store) && !instruction.is_guarded();
    (is_plain && access.is_store && access.index.is_none()).then_some(*access)
}

fn dead(subject: &Subject<'_>, idx: usize, again: usize, exits: &[usize]) -> Finding {
    let again = subject.named(again);
    let why = match exits {
        [] => format!("{again} stores to the same place before anybody reads it"),
        [exit, ..] => format!(
            "{again} stores to the same place; only the way out at {} sees this value",
            subject.named(*exit)
        ),
    };
    subject.finding(idx, Kind::DeadStore, why)
}

fn unread(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let instructions = &subject.function.instructions;
    // Behind a call the callee may have read its arguments there; and where the frame is in the
    // cases of a switch is not known.
    if instructions.iter().any(Instruction::reaches_all_memory)
        || entries(subject.function).contains(&true)
    {
        return;
    }
    let mut loaded: BTreeMap<usize, Vec<(i64, i64)>> = BTreeMap::new();
    let accesses = spills::own_accesses(subject.function);
    let end = |slot: Slot, width: u8| slot.offset.saturating_add(i64::from(width));
    for it in accesses.iter().filter(|access| !access.is_store) {
        loaded.entry(it.slot.count).or_default().push((it.slot.offset, end(it.slot, it.width)));
    }
    let is_read = |access: &OwnAccess| {
        let overlaps = |(from, to): &(i64, i64)| {
            *from < end(access.slot, access.width) && access.slot.offset < *to
        };
        loaded.get(&access.slot.count).is_some_and(|them| them.iter().any(overlaps))
    };
    let stores: Vec<OwnAccess> =
        accesses.iter().filter(|access| access.is_store).copied().collect();
    // What stores several registers is dead if none of them is read.
    for own in stores.chunk_by(|a, b| a.idx == b.idx).filter(|own| !own.iter().any(is_read)) {
        let it = &own[0];
        let why = "nobody reads this place of the frame, and its address is not taken".to_owned();
        findings.push(subject.finding(it.idx, Kind::DeadStore, why));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{RETURN, found, places};
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
        assert!(
            places(&[DOWN, STORE, 0xe5dd_0005, UP, RETURN], Kind::DeadStore).is_empty(),
            "in part: ldrb r0, [sp, #5]"
        );
    }

    #[test]
    fn written_again() {
        let (first, second, load) = (0xe580_1004, 0xe580_2004, 0xe590_3000); // str r1, [r0, #4]; str r2, [r0, #4]; ldr r3, [r0]
        assert_eq!(places(&[first, second, RETURN], Kind::DeadStore), [0]);
        assert!(
            places(&[first, load, second, RETURN], Kind::DeadStore).is_empty(),
            "the load may read it"
        );
        assert!(
            places(&[first, 0xe280_0004, second, RETURN], Kind::DeadStore).is_empty(),
            "add r0, r0, #4: another place"
        );
        assert!(
            places(&[first, 0xe5c0_2004, RETURN], Kind::DeadStore).is_empty(),
            "strb covers a quarter"
        );
        assert!(
            places(&[0xe5c0_1005, second, RETURN], Kind::DeadStore) == [0],
            "str covers the byte"
        );
        assert!(
            places(&[first, 0x0580_2004, RETURN], Kind::DeadStore).is_empty(),
            "streq may not store"
        );
    }

    #[test]
    fn written_again_but_for_a_way_out() {
        let (first, second, out) = (0xe580_1004, 0xe580_2004, 0x0a00_0100); // beq out of the function
        let found = found(&[first, out, second, RETURN]);
        assert_eq!(
            found
                .iter()
                .filter(|pair| pair.1 == Kind::DeadStore)
                .map(|pair| pair.0)
                .collect::<Vec<_>>(),
            [0]
        );
        let why = &found.iter().find(|pair| pair.1 == Kind::DeadStore).expect("it was found").2;
        assert!(why.contains("only the way out at `beq"), "{why}");
    }

    #[test]
    fn somebody_may_read_it() {
        assert!(
            places(&[DOWN, STORE, 0xe28d_0004, UP, RETURN], Kind::DeadStore).is_empty(),
            "its address is the result"
        );
        assert!(
            places(&[DOWN, STORE, 0xeb00_0100, UP, RETURN], Kind::DeadStore).is_empty(),
            "an argument of a call"
        );
        assert!(places(&[0xe580_3004, RETURN], Kind::DeadStore).is_empty(), "str r3, [r0, #4]");
    }
}
