//! Which stores and loads of the frame keep registers for the caller, wherever a compiler put them.
//!
//! ```text
//! str x25, [sp, #64]    x25 is the caller's still, or again
//! ...                   x25 holds values of the function
//! ldr x25, [sp, #64]
//! b   out               on other ways nobody saves it: no value of the function misses a register
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::decode::code::{Out, Reg, Role};
use crate::facts::cases::entries;
use crate::facts::frame::{Slot, successors};
use crate::facts::liveness::RegSet;
use crate::facts::spills::{SpillKind, SpillPlace};
use crate::program::function::Function;

/// A register that a place stores or loads.
#[derive(Debug, Clone, Copy)]
struct KeptAccess {
    idx: usize,
    kind: SpillKind,
    slot: Slot,
    reg: Reg,
}

/// The instructions of these places that keep what a caller wants back: each of its slots has one
/// such register, in all that is stored there the caller's value.
pub fn kept_for_caller(function: &Function, places: &[SpillPlace]) -> BTreeSet<usize> {
    let accesses: Vec<KeptAccess> = places
        .chunk_by(|a, b| (a.idx, a.kind) == (b.idx, b.kind))
        .flat_map(|own| named(function, own))
        .collect();
    let n_named = |slot: Slot| accesses.iter().filter(|access| access.slot == slot).count();
    let is_callers = |reg: Reg| {
        let conventions = function.isa.conventions();
        conventions.saved.contains(&reg) || conventions.link == Some(reg)
    };
    let mut slots: BTreeMap<Slot, Reg> = BTreeMap::new();
    for access in &accesses {
        let others = accesses.iter().filter(|other| other.slot == access.slot);
        let all = places.iter().filter(|place| place.slot == access.slot).count();
        let is_one = others.clone().all(|other| other.reg == access.reg);
        if is_one && is_callers(access.reg) && n_named(access.slot) == all {
            slots.insert(access.slot, access.reg);
        }
    }
    loop {
        let held = held(function, &accesses, &slots);
        let is_wrong = |access: &&KeptAccess| {
            access.kind == SpillKind::Spill
                && slots.contains_key(&access.slot)
                && !held[access.idx].contains(access.reg)
        };
        let wrong: Vec<Slot> = accesses.iter().filter(is_wrong).map(|access| access.slot).collect();
        if wrong.is_empty() {
            break;
        }
        wrong.iter().for_each(|slot| _ = slots.remove(slot));
    }
    let is_kept = |idx: usize| {
        places.iter().filter(|place| place.idx == idx).all(|place| slots.contains_key(&place.slot))
    };
    places.iter().map(|place| place.idx).filter(|idx| is_kept(*idx)).collect()
}

/// The registers of one instruction's slots, in their order, if there are as many.
fn named(function: &Function, own: &[SpillPlace]) -> Vec<KeptAccess> {
    let instruction = &function.instructions[own[0].idx];
    let regs: Vec<Reg> = match own[0].kind {
        SpillKind::Spill => {
            let data = instruction.reads.iter().filter(|read| read.role == Role::Data);
            data.map(|read| read.reg).collect()
        }
        SpillKind::Reload => {
            let loaded = instruction.writes.iter().filter(|write| write.out != Out::BaseUpdate);
            loaded.map(|write| write.reg).collect()
        }
    };
    if regs.len() != own.len() {
        return Vec::new();
    }
    let access = |(place, reg): (&SpillPlace, Reg)| KeptAccess {
        idx: place.idx,
        kind: place.kind,
        slot: place.slot,
        reg,
    };
    own.iter().zip(regs).map(access).collect()
}

/// For each instruction the registers that hold before it, on every way, what the caller left there,
/// if these slots have it.
fn held(function: &Function, accesses: &[KeptAccess], slots: &BTreeMap<Slot, Reg>) -> Vec<RegSet> {
    let n = function.instructions.len();
    let conventions = function.isa.conventions();
    let all: Vec<Reg> = conventions.saved.iter().chain(&conventions.link).copied().collect();
    let restores = |idx: usize, reg: Reg| {
        let instruction = &function.instructions[idx];
        let stack = conventions.stack_pointer;
        // What moves the stack pointer back is the end of the function, or of a part of it.
        let pops = instruction.accesses.iter().any(|access| !access.is_store)
            && instruction.writes.iter().any(|write| write.reg == stack);
        let is_slot = |access: &KeptAccess| {
            access.idx == idx
                && access.reg == reg
                && access.kind == SpillKind::Reload
                && slots.contains_key(&access.slot)
        };
        pops || accesses.iter().any(is_slot)
    };
    let mut held: Vec<Option<RegSet>> = vec![None; n];
    let mut open: Vec<usize> = Vec::new();
    for (idx, is_entered) in entries(function).into_iter().enumerate() {
        if idx == 0 || is_entered {
            held[idx] =
                Some(if idx == 0 { all.iter().copied().collect() } else { RegSet::default() });
            open.push(idx);
        }
    }
    while let Some(idx) = open.pop() {
        let Some(mut after) = held[idx] else { continue };
        for write in &function.instructions[idx].writes {
            match restores(idx, write.reg) {
                true => after.insert(write.reg),
                false => after.remove(write.reg),
            }
        }
        for to in successors(function, idx) {
            let both = match held[to] {
                None => after,
                Some(known) => all
                    .iter()
                    .copied()
                    .filter(|reg| known.contains(*reg) && after.contains(*reg))
                    .collect(),
            };
            if held[to] != Some(both) {
                held[to] = Some(both);
                open.push(to);
            }
        }
    }
    held.into_iter().map(Option::unwrap_or_default).collect()
}
