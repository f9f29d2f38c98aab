//! Values that went to the stack frame and came back; which of them a register still held, and
//! which only a call off the hot path forces there.

use std::cell::LazyCell;

use super::Subject;
use crate::decode::Isa;
use crate::decode::code::{Class, Flow, Instruction, Out, Reg, Role};
use crate::facts::bits::Writer;
use crate::facts::frame::successors;
use crate::facts::kept_for_caller::kept_for_caller;
use crate::facts::liveness::Liveness;
use crate::facts::spills::{self, SpillPlace};
use crate::finding::{Finding, Kind, Way};
use crate::program::names::shown;

/// What keeps a way that is seldom taken from costing the others.
pub fn find(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let places = spills::places(subject.function);
    let live = LazyCell::new(|| Liveness::of(subject.function));
    let kept = kept_for_caller(subject.function, &places);
    for own in places.chunk_by(|a, b| (a.idx, a.kind) == (b.idx, b.kind)) {
        let is_kept = |place: &SpillPlace| {
            kept.contains(&place.idx) || keeps_for_caller(subject, place, &places)
        };
        if own.iter().any(is_kept) {
            continue;
        }
        findings.push(match own[0].kind {
            spills::SpillKind::Spill => spill(subject, own, &places, &|| &live),
            spills::SpillKind::Reload => reload(subject, own, &places),
        });
    }
    frame_for_cold_calls(subject, findings);
}

/// A register that the caller wants back is stored before anything is written to it, or comes back
/// from there: the function's entry and its ways out, on sets without instructions for lists. No
/// register is missing there.
fn keeps_for_caller(subject: &Subject<'_>, place: &SpillPlace, places: &[SpillPlace]) -> bool {
    let conventions = subject.function.isa.conventions();
    // What conventions say of other registers is not in their lists: what goes to the frame as it
    // came, and back into the same register.
    let unlisted: Vec<Reg> = conventions.unlisted().collect();
    let comes_back = |reg: &Reg| {
        let is_back =
            |it: &&SpillPlace| it.kind == spills::SpillKind::Reload && it.slot == place.slot;
        unlisted.contains(reg)
            && places
                .iter()
                .filter(is_back)
                .any(|place| subject.at(place.idx).writes.iter().any(|write| write.reg == *reg))
    };
    let is_kept = |reg: &Reg| {
        conventions.saved.contains(reg) || conventions.link == Some(*reg) || comes_back(reg)
    };
    let saves = |idx: usize| {
        let data: Vec<Reg> = subject
            .at(idx)
            .reads
            .iter()
            .filter(|read| read.role == Role::Data)
            .map(|read| read.reg)
            .collect();
        !data.is_empty()
            && data
                .iter()
                .all(|it| is_kept(it) && subject.bits.before(idx, *it).writer == Writer::Caller)
    };
    match place.kind {
        spills::SpillKind::Spill => saves(place.idx),
        spills::SpillKind::Reload => {
            let restores = subject
                .at(place.idx)
                .writes
                .iter()
                .all(|write| is_kept(&write.reg) || write.out == Out::BaseUpdate);
            let mut stores = places
                .iter()
                .filter(|found| found.slot == place.slot && found.kind == spills::SpillKind::Spill);
            restores && stores.all(|store| saves(store.idx))
        }
    }
}

/// `own` are the slots of one instruction.
fn spill<'l>(
    subject: &Subject<'_>,
    own: &[SpillPlace],
    places: &[SpillPlace],
    live: &dyn Fn() -> &'l Liveness,
) -> Finding {
    let idx = own[0].idx;
    let is_own = |it: &SpillPlace| own.iter().any(|place| place.slot == it.slot);
    let is_reload = |place: &&SpillPlace| is_own(place) && place.kind == spills::SpillKind::Reload;
    let is_seldom = |idx: usize| !subject.is_hot[idx] && subject.is_seldom[idx];
    let is_for_others =
        subject.is_hot[idx] && places.iter().filter(is_reload).all(|place| is_seldom(place.idx));
    let why = if is_for_others {
        "the value is only needed back off the hot path: the store could stand there".to_owned()
    } else if let Some(free) = free_register(subject) {
        let free = subject.name(free);
        format!(
            "the value is in the frame, though {free} is free: a part of an object there, or one register less to keep for the caller"
        )
    } else if let Some(free) =
        own.iter().find_map(|slot| free_meanwhile(subject, slot, places, live))
    {
        format!(
            "the value is in the frame, though {} is free until it comes back",
            subject.name(free)
        )
    } else {
        "there was no register for the value".to_owned()
    };
    // Zero is no register that is read on some sets; x86-64 has constants to store.
    let isa = subject.function.isa;
    let is_zero = |idx: usize| {
        let data = subject.at(idx).reads.iter().filter(|read| read.role == Role::Data);
        isa != Isa::X86 && data.clone().all(|read| Some(read.reg) == isa.conventions().zero)
    };
    let mut stores =
        places.iter().filter(|place| is_own(place) && place.kind == spills::SpillKind::Spill);
    if stores.all(|place| is_zero(place.idx)) {
        return subject.finding(
            idx,
            Kind::Spill,
            "it is zero, which is always in a register: a part of an object in the frame"
                .to_owned(),
        );
    }
    let mut finding = subject.finding(idx, Kind::Spill, why);
    if is_for_others && places.iter().any(|place| is_reload(&place)) {
        finding.ways = vec![Way::Cold];
    }
    finding
}

/// A register that outlives calls, holds values like any other, and is not used in the function.
fn free_register(subject: &Subject<'_>) -> Option<Reg> {
    let conventions = subject.function.isa.conventions();
    let is_used = |reg: &Reg| {
        let touches = |instruction: &Instruction| {
            instruction.reads.iter().any(|read| read.reg == *reg)
                || instruction.writes.iter().any(|write| write.reg == *reg)
        };
        subject.function.instructions.iter().any(touches)
    };
    // Most of Thumb's short instructions know eight registers.
    let is_short = subject.function.isa == Isa::T32 && !subject.has_wide_words();
    let is_general = |reg: &&Reg| {
        **reg != conventions.stack_pointer
            && Some(**reg) != conventions.frame_pointer
            && (!is_short || reg.0 < 8)
    };
    conventions.saved.iter().filter(is_general).find(|it| !is_used(it)).copied()
}

/// A register that nothing needs from this store to the last load of its value, whatever way control
/// goes: the one that it comes back to, if it is such a one.
///
/// In `ldr r3, [pc, #180]; str r3, [sp]; sbcs r0, r3; ldr r1, [sp]` the store is no spill for want
/// of a register: `r1` is free all the time.
fn free_meanwhile<'l>(
    subject: &Subject<'_>,
    slot: &SpillPlace,
    places: &[SpillPlace],
    live: &dyn Fn() -> &'l Liveness,
) -> Option<Reg> {
    let conventions = subject.function.isa.conventions();
    let is_of = |idx: usize, kind: spills::SpillKind| {
        places.iter().any(|place| place.idx == idx && place.slot == slot.slot && place.kind == kind)
    };
    let while_kept = kept(subject, slot.idx, &is_of);
    let has_call = while_kept.iter().any(|&idx| matches!(subject.at(idx).flow, Flow::Call { .. }));
    let goes_back = |reg: Reg| {
        let loads = while_kept.iter().filter(|&&idx| is_of(idx, spills::SpillKind::Reload));
        loads.clone().count() > 0
            && loads.clone().all(|&idx| subject.at(idx).writes.iter().any(|write| write.reg == reg))
    };
    let is_short = subject.function.isa == Isa::T32 && !subject.has_wide_words();
    let is_general = |reg: &Reg| {
        *reg != conventions.stack_pointer
            && Some(*reg) != conventions.frame_pointer
            && Some(*reg) != conventions.zero
            && Some(*reg) != conventions.link
            && !conventions.reserved.iter().any(|(reserved, _)| reserved == reg)
            && (!is_short || reg.0 < 8)
    };
    let general: Vec<Reg> = conventions
        .scratch
        .iter()
        .filter(|_| !has_call)
        .chain(conventions.saved)
        .filter(|reg| is_general(reg))
        .copied()
        .collect();
    // A value of floating point has registers of its own.
    let data = subject.at(slot.idx).reads.iter().filter(|read| read.role == Role::Data);
    let mut others = data.filter(|read| {
        !conventions.scratch.contains(&read.reg) && !conventions.saved.contains(&read.reg)
    });
    if while_kept.is_empty() || others.next().is_some() {
        return None;
    }
    let live = live();
    let is_free = |reg: &Reg| {
        while_kept.iter().all(|&idx| {
            let brings = is_of(idx, spills::SpillKind::Reload);
            let instruction = subject.at(idx);
            !live.before(idx).contains(*reg)
                && (brings || instruction.writes.iter().all(|write| write.reg != *reg))
        })
    };
    let mut free: Vec<Reg> = general.into_iter().filter(is_free).collect();
    free.sort_by_key(|reg| !goes_back(*reg));
    free.first().copied()
}

/// The instructions behind the store at `store` from which control may still come to a load of the
/// value, that load included.
fn kept(
    subject: &Subject<'_>,
    store: usize,
    is_of: &dyn Fn(usize, spills::SpillKind) -> bool,
) -> Vec<usize> {
    let n = subject.function.instructions.len();
    let mut is_behind = vec![false; n];
    let mut open = successors(subject.function, store);
    while let Some(idx) = open.pop() {
        if !std::mem::replace(&mut is_behind[idx], true) && !is_of(idx, spills::SpillKind::Spill) {
            open.extend(successors(subject.function, idx));
        }
    }
    let mut is_before: Vec<bool> =
        (0..n).map(|idx| is_of(idx, spills::SpillKind::Reload)).collect();
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for idx in (0..n).rev().filter(|&idx| !is_of(idx, spills::SpillKind::Spill)) {
            let leads = successors(subject.function, idx).into_iter().any(|next| is_before[next]);
            is_changed |= leads && !std::mem::replace(&mut is_before[idx], true);
        }
    }
    (0..n)
        .filter(|&idx| is_behind[idx] && is_before[idx])
        .filter(|&idx| !is_of(idx, spills::SpillKind::Spill))
        .collect()
}

/// `own` are the slots of one instruction.
fn reload(subject: &Subject<'_>, own: &[SpillPlace], places: &[SpillPlace]) -> Finding {
    let place = &own[0];
    let before = places.iter().rev().find(|it| {
        it.slot == place.slot && it.kind == spills::SpillKind::Spill && it.idx < place.idx
    });
    let mut stores = places
        .iter()
        .filter(|found| found.slot == place.slot && found.kind == spills::SpillKind::Spill)
        .map(|store| store.idx);
    // Whether a register was missing, the store says.
    let mut why = match (stores.next(), stores.next()) {
        (Some(store), None) if own.len() == 1 => {
            format!("{} put the value into the frame", subject.named(store))
        }
        _ => "the value was put into the frame".to_owned(),
    };
    if let Some(store) =
        before.filter(|before| own.len() == 1 && subject.is_straight(before.idx, place.idx))
    {
        let data: Vec<Reg> = subject
            .at(store.idx)
            .reads
            .iter()
            .filter(|read| read.role == Role::Data)
            .map(|read| read.reg)
            .collect();
        // Of several registers it is not said which.
        if let [data] = data[..]
            && subject.is_kept(data, store.idx, place.idx)
        {
            why = format!(
                "{} still holds the value that {} stored",
                subject.name(data),
                subject.named(store.idx)
            );
        }
    }
    subject.finding(place.idx, Kind::Reload, why)
}

/// Registers that the entry saves although there is no call on the hot path.
fn frame_for_cold_calls(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let conventions = subject.function.isa.conventions();
    let Some(link) = conventions.link else { return };
    let calls: Vec<usize> = (0..subject.function.instructions.len())
        .filter(|&idx| matches!(subject.at(idx).flow, Flow::Call { .. } | Flow::LastCall))
        .collect();
    // A call that is off the path by its place alone may be the usual one.
    let is_cold = |idx: &usize| !subject.is_hot[*idx] && subject.is_seldom[*idx];
    let Some(&cold) = calls.first().filter(|_| calls.iter().all(is_cold)) else {
        return;
    };
    let saves_link = |idx: &usize| {
        let instruction = subject.at(*idx);
        let is_save = instruction
            .accesses
            .iter()
            .any(|access| access.is_store && access.base == Some(conventions.stack_pointer));
        is_save
            && matches!(instruction.class, Class::StoreMultiple | Class::Store | Class::StoreDouble)
            && super::reads_as(instruction, link, Role::Data)
    };
    let hot = (0..subject.function.instructions.len()).filter(|&idx| subject.is_hot[idx]);
    // A register of its own that the path uses like any other has to be kept, too.
    let uses_link = |idx: usize| {
        let instruction = subject.at(idx);
        let is_back = instruction
            .accesses
            .iter()
            .any(|access| !access.is_store && access.base == Some(conventions.stack_pointer));
        !is_back && instruction.writes.iter().any(|write| write.reg == link)
    };
    if hot.clone().any(uses_link) {
        return;
    }
    if let Some(save) = hot.into_iter().find(saves_link) {
        let named = subject.function.callees.get(&subject.at(cold).address);
        let callee = match named {
            Some(callee) => format!("`{}`", shown(callee)),
            None => "another function".to_owned(),
        };
        let mut names: Vec<Option<&String>> = calls
            .iter()
            .map(|call| subject.function.callees.get(&subject.at(*call).address))
            .collect();
        names.dedup();
        let why = match names.len() {
            1 => format!(
                "only the call to {callee}, off the hot path, needs the return address kept"
            ),
            _ => format!(
                "only calls off the hot path, as that to {callee}, need the return address kept"
            ),
        };
        let mut finding = subject.finding(save, Kind::Spill, why);
        // Compilers call what never returns so that a debugger sees from where.
        if subject.at(cold).flow != Flow::LastCall {
            finding.ways = vec![Way::Cold];
        }
        findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found_on, function, places, places_on};
    use super::*;

    const PUSH: u32 = 0xe92d_4010; // push {r4, lr}
    const DOWN: u32 = 0xe24d_d008;
    const STORE: u32 = 0xe58d_3004; // str r3, [sp, #4]
    const LOAD: u32 = 0xe59d_0004; // ldr r0, [sp, #4]
    const UP: u32 = 0xe28d_d008;
    const POP: u32 = 0xe8bd_8010; // pop {r4, pc}
    const CALL: u32 = 0xeb00_0100;

    fn findings(words: &[u32], cold: &[usize]) -> Vec<Finding> {
        let function = function(words);
        let is_hot: Vec<bool> = (0..words.len()).map(|idx| !cold.contains(&idx)).collect();
        let is_seldom = is_hot.iter().map(|is_hot| !is_hot).collect();
        let subject = Subject { is_hot, is_seldom, ..Subject::of(&function) };
        super::super::needed(&subject)
    }

    #[test]
    fn a_register_still_holds_it() {
        let all = findings(&[PUSH, DOWN, STORE, 0xe283_4001, LOAD, UP, POP], &[]);
        let reload = all.iter().find(|it| it.kind == Kind::Reload).expect("there is a reload");
        assert_eq!(reload.why, "r3 still holds the value that `str r3, [sp, #4]` at 0x8 stored");
    }

    #[test]
    fn a_call_takes_it_away() {
        let all = findings(&[PUSH, DOWN, STORE, CALL, LOAD, UP, POP], &[]);
        let reload = all.iter().find(|it| it.kind == Kind::Reload).expect("there is a reload");
        assert_eq!(reload.why, "`str r3, [sp, #4]` at 0x8 put the value into the frame");
    }

    #[test]
    fn only_the_cold_path_wants_it_back() {
        // cmp r0, #0; beq to the end; a cold call and reload
        let words = [PUSH, DOWN, STORE, 0xe350_0000, 0x0a00_0002, CALL, LOAD, 0xe1a0_0000, UP, POP];
        let all = findings(&words, &[5, 6, 7]);
        let spill =
            all.iter().find(|it| it.kind == Kind::Spill && it.idx == 2).expect("there is a spill");
        assert_eq!(
            spill.why,
            "the value is only needed back off the hot path: the store could stand there"
        );
        let save = all
            .iter()
            .find(|it| it.kind == Kind::Spill && it.idx == 0)
            .expect("the entry saves the return address");
        assert_eq!(
            save.why,
            "only the call to another function, off the hot path, needs the return address kept"
        );
    }

    /// What is off the path by its place alone may be where the function goes.
    #[test]
    fn a_call_that_may_be_the_usual_way_is_not_said_to_be_seldom() {
        let words = [PUSH, DOWN, STORE, 0xe350_0000, 0x0a00_0002, CALL, LOAD, 0xe1a0_0000, UP, POP];
        let function = function(&words);
        let is_hot = (0..words.len()).map(|idx| !(5..8).contains(&idx)).collect();
        let subject = Subject { is_hot, ..Subject::of(&function) };
        let all = super::super::needed(&subject);
        assert!(!all.iter().any(|it| it.why.contains("off the hot path")), "{all:?}");
    }

    /// A counter that begins at zero is not always zero.
    #[test]
    fn a_slot_with_another_value_is_not_zero() {
        // sub sp, sp, #16; str xzr, [sp, #8]; ldr x0, [sp, #8]; str x1, [sp, #8]; ldr x0, [sp,
        // #8]; add sp, sp, #16; ret
        let words = [
            0xd100_43ff,
            0xf900_07ff,
            0xf940_07e0,
            0xf900_07e1,
            0xf940_07e0,
            0x9100_43ff,
            0xd65f_03c0,
        ];
        let all = found_on(Isa::A64, &words);
        assert!(!all.iter().any(|it| it.2.starts_with("it is zero")), "{all:?}");
    }

    /// No register is missing where zero is stored.
    #[test]
    fn zero_needs_no_register() {
        let why = |isa: Isa, words: &[u32]| {
            found_on(isa, words).into_iter().find(|pair| pair.1 == Kind::Spill).map(|pair| pair.2)
        };
        let missing = Some("there was no register for the value");
        let free = |option: Option<&str>| {
            option.is_some_and(|text| text.starts_with("the value is in the frame, though "))
        };
        let zero =
            Some("it is zero, which is always in a register: a part of an object in the frame");
        // sub sp, sp, #16; str xzr, [sp, #8]; ldr x0, [sp, #8]; add sp, sp, #16; ret
        let a64 = |store: u32| {
            why(Isa::A64, &[0xd100_43ff, store, 0xf940_07e0, 0x9100_43ff, 0xd65f_03c0])
        };
        assert_eq!((a64(0xf900_07ff).as_deref(), free(a64(0xf900_07e1).as_deref())), (zero, true));
        // addi sp, sp, -16; sd zero, 8(sp); ld a0, 8(sp); addi sp, sp, 16; ret
        let rv64 = |store: u32| {
            why(Isa::Riscv64, &[0xff01_0113, store, 0x0081_3503, 0x0101_0113, 0x0000_8067])
        };
        assert_eq!(
            (rv64(0x0001_3423).as_deref(), free(rv64(0x00b1_3423).as_deref())),
            (zero, true)
        );
        // A register is only missing where all of them are used: push {r4-r11, lr}; sub sp, sp, #8;
        // str r3, [sp, #4]; a call; ldr r0, [sp, #4]; and all that lived across the call is read:
        // add r4, r4, r5; add r6, r6, r7; add r8, r8, r9, and of the last two registers.
        let all = |last: u32| {
            let begins = [0xe92d_4ff0, DOWN, STORE, CALL];
            let ends = [LOAD, 0xe084_4005, 0xe086_6007, 0xe088_8009, last, UP, 0xe8bd_8ff0];
            why(Isa::A32, &[&begins[..], &ends[..]].concat())
        };
        // add r10, r10, r11; and mov r10, r11, before which nobody needs r10.
        assert_eq!(all(0xe08a_a00b).as_deref(), missing);
        let meanwhile = "the value is in the frame, though r10 is free until it comes back";
        assert_eq!(all(0xe1a0_a00b).as_deref(), Some(meanwhile));
    }

    /// A value that comes back before the next call may be in any register that is free till then.
    #[test]
    fn a_value_that_comes_back_at_once_misses_no_register() {
        // push {r4-r11, lr}; sub sp, sp, #8; str r3, [sp, #4]; sub r3, r0, #1; ldr r1, [sp, #4]; a
        // call; then all of r4 to r11 are read.
        let why = |between: [u32; 2]| {
            let ends = [0xe084_4005, 0xe086_6007, 0xe088_8009, 0xe08a_a00b, UP, 0xe8bd_8ff0];
            let begins = [0xe92d_4ff0, DOWN, STORE, 0xe240_3001];
            let words = [&begins[..], &between[..], &[CALL][..], &ends[..]].concat();
            let all = found_on(Isa::A32, &words);
            all.into_iter().find(|found| found.1 == Kind::Spill).map(|found| found.2)
        };
        const LOAD_R1: u32 = 0xe59d_1004;
        let free = |reg: &str| {
            format!("the value is in the frame, though {reg} is free until it comes back")
        };
        assert_eq!(why([0xe1a0_0000, LOAD_R1]), Some(free("r1")));
        // mov r1, #0, and then it comes back to r1: another is free that is no argument.
        assert_eq!(why([0xe3a0_1000, LOAD_R1]), Some(free("ip")));
    }

    #[test]
    fn of_several_calls_none_is_the_only_one() {
        let named = |words: &[u32], names: [(u64, &str); 2]| {
            let mut function = function(words);
            function.callees = names.map(|(at, name)| (at, name.to_owned())).into();
            let is_hot: Vec<bool> = (0..words.len()).map(|idx| idx < 4).collect();
            let is_seldom = is_hot.iter().map(|is_hot| !is_hot).collect();
            let subject = Subject { is_hot, is_seldom, ..Subject::of(&function) };
            let save = super::super::needed(&subject)
                .into_iter()
                .find(|it| it.kind == Kind::Spill && it.idx == 0);
            save.expect("the entry saves the return address").why
        };
        let words = [PUSH, 0xe350_0000, 0x0a00_0000, POP, CALL, CALL, POP];
        let several = "only calls off the hot path, as that to `a`, need the return address kept";
        assert_eq!(named(&words, [(16, "a"), (20, "b")]), several);
        assert_eq!(
            named(&words, [(16, "a"), (20, "a")]),
            "only the call to `a`, off the hot path, needs the return address kept"
        );
    }

    /// AArch64 saves one or two registers at a time.
    #[test]
    fn what_is_kept_for_the_caller_is_no_spill() {
        // stp x29, x30, [sp, #-48]!; stp x19, x20, [sp, #16]; str x21, [sp, #32]; bl; the same
        // back; ret
        let words = [
            0xa9bd_7bfd,
            0xa901_53f3,
            0xf900_13f5,
            0xaa00_03f3,
            0xaa01_03f4,
            0xaa02_03f5,
            0x9400_0100,
            0x8b13_0280,
            0x8b15_0000,
            0xa941_53f3,
            0xf940_13f5,
            0xa8c3_7bfd,
            0xd65f_03c0,
        ];
        for kind in [Kind::Spill, Kind::Reload] {
            assert!(places_on(Isa::A64, &words, kind).is_empty(), "{kind:?}");
        }
        // The same store of a value of the function's own is one: mov x21, x2 comes first.
        let own = [
            0xa9bd_7bfd,
            0xaa02_03f5,
            0xf900_13f5,
            0x9400_0100,
            0xf940_13f5,
            0xaa15_03e0,
            0xa8c3_7bfd,
            0xd65f_03c0,
        ];
        assert_eq!(
            (places_on(Isa::A64, &own, Kind::Spill), places_on(Isa::A64, &own, Kind::Reload)),
            (vec![2], vec![4])
        );
    }

    /// On one way the register is saved, used and brought back, and on another again.
    #[test]
    fn what_is_kept_for_the_caller_on_some_ways_is_no_spill() {
        // sub sp, sp, #32; cbz x0, to the second; str x19, [sp, #8]; mov x19, x1; bl; what comes
        // back; str x19, [sp, #8]; mov x19, x2; bl; mov x0, x19; ldr x19, [sp, #8]; add sp, sp,
        // #32; ret
        let words = |back: u32| {
            let first = [0xd100_83ff, 0xb400_00a0, 0xf900_07f3, 0xaa01_03f3, 0x9400_0100, back];
            let second = [0xf900_07f3, 0xaa02_03f3, 0x9400_0100, 0xaa13_03e0, 0xf940_07f3];
            [&first[..], &second[..], &[0x9100_83ff, 0xd65f_03c0]].concat()
        };
        let all = |back: u32| {
            let of = |kind| places_on(Isa::A64, &words(back), kind);
            (of(Kind::Spill), of(Kind::Reload))
        };
        // ldr x19, [sp, #8]
        assert_eq!(all(0xf940_07f3), (vec![], vec![]));
        // mov x19, x0: then the second store is of a value.
        assert!(!all(0xaa00_03f3).0.is_empty());
    }

    /// A path that uses the register of the return address like any other keeps it for itself.
    #[test]
    fn who_uses_the_link_has_to_keep_it() {
        let is_found = |load: u32| {
            let words = [PUSH, load, 0xe350_0000, 0x0a00_0000, POP, CALL, POP];
            let function = function(&words);
            let is_hot: Vec<bool> = (0..words.len()).map(|idx| idx < 5).collect();
            let is_seldom = is_hot.iter().map(|is_hot| !is_hot).collect();
            let subject = Subject { is_hot, is_seldom, ..Subject::of(&function) };
            let all = super::super::needed(&subject);
            all.into_iter().any(|found| found.kind == Kind::Spill && found.idx == 0)
        };
        assert!(is_found(0xe590_3000)); // ldr r3, [r0]
        assert!(!is_found(0xe590_e000)); // ldr lr, [r0]
        assert!(!is_found(0xe3a0_e001)); // mov lr, #1
    }

    /// A table may lead to any line, but not to those that make the frame.
    #[test]
    fn what_is_kept_for_the_caller_of_a_switch_is_no_spill() {
        // sub sp, sp, #16; str x19, [sp, #8]; mov x19, x0; br x1; add x0, x19, #1; ldr x19, [sp,
        // #8]; add sp, sp, #16; ret
        let a64 = [
            0xd100_43ff,
            0xf900_07f3,
            0xaa00_03f3,
            0xd61f_0020,
            0x9100_0660,
            0xf940_07f3,
            0x9100_43ff,
            0xd65f_03c0,
        ];
        // addi sp, sp, -16; sd s0, 8(sp); mv s0, a0; jr a1; addi a0, s0, 1; ld s0, 8(sp); addi sp,
        // sp, 16; ret
        let rv64 = [
            0xff01_0113,
            0x0081_3423,
            0x0005_0413,
            0x0005_8067,
            0x0014_0513,
            0x0081_3403,
            0x0101_0113,
            0x0000_8067,
        ];
        for kind in [Kind::Spill, Kind::Reload] {
            assert!(
                places_on(Isa::A64, &a64, kind).is_empty()
                    && places_on(Isa::Riscv64, &rv64, kind).is_empty(),
                "{kind:?}"
            );
        }
    }

    /// A register of floating point that comes back as it went.
    #[test]
    fn what_is_kept_of_floating_point_is_no_spill() {
        // addi sp, sp, -16; fsd fs0, 8(sp); fmv.d fs0, fa0; fmv.d fa0, fs0; fld fs0, 8(sp); addi
        // sp, sp, 16; ret
        let rv64 = |load: u32| {
            [0xff01_0113, 0x0081_3427, 0x22a5_0453, 0x2284_0553, load, 0x0101_0113, 0x0000_8067]
        };
        // sub sp, sp, #16; str d8, [sp, #8]; fmov d8, d0; fmov d0, d8; ldr d8, [sp, #8]; add sp,
        // sp, #16; ret
        let a64 = |load: u32| {
            [0xd100_43ff, 0xfd00_07e8, 0x1e60_4008, 0x1e60_4100, load, 0x9100_43ff, 0xd65f_03c0]
        };
        for kind in [Kind::Spill, Kind::Reload] {
            assert!(places_on(Isa::Riscv64, &rv64(0x0081_3407), kind).is_empty(), "{kind:?}");
            assert!(places_on(Isa::A64, &a64(0xfd40_07e8), kind).is_empty(), "{kind:?}");
        }
        // Into another it is a value: fld fa1, 8(sp), and ldr d1, [sp, #8].
        assert_eq!(places_on(Isa::Riscv64, &rv64(0x0081_3587), Kind::Spill), [1]);
        assert_eq!(places_on(Isa::A64, &a64(0xfd40_07e1), Kind::Spill), [1]);
    }

    #[test]
    fn a_hot_call_needs_the_frame() {
        assert!(places(&[PUSH, CALL, POP], Kind::Spill).is_empty());
    }
}
