//! Values that the compiler had no register for: stores to the frame and loads from it.
//!
//! ```text
//! str r3, [sp, #4]     spill: the slot holds a value and nothing else
//! ...
//! ldr r3, [sp, #4]     reload
//! ```
//!
//! A slot counts if it is stored and loaded whole, always in the same width, at a place in the
//! frame that nothing else can reach: no address of it or of anything below it is taken, and
//! no access with an index starts below it. Compilers lay variables whose address is taken
//! above their own slots, so those below the lowest such address are theirs. A slot that only
//! keeps a register of the caller is saved by `push` or once at the entry; that is no spill.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::{Class, Flow, Out};
use crate::frame::{Frame, Slot};
use crate::function::Function;

/// What an instruction does with a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Stores a value.
    Spill,
    /// Loads it.
    Reload,
}

/// One spill or reload. An operand that is both read and written counts once, as a spill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which instruction.
    pub idx: usize,
    /// What it does.
    pub kind: Kind,
    /// With which slot.
    pub slot: Slot,
    /// Bytes.
    pub width: u8,
}

/// The spills of a function, or of several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spills {
    /// All instructions.
    pub instructions: usize,
    /// Stores of spilled values.
    pub stores: usize,
    /// Loads of them, those inside other instructions too.
    pub reloads: usize,
}

impl Spills {
    /// Spills and reloads in percent of all instructions.
    pub fn share_pct(&self) -> f64 {
        if self.instructions == 0 { 0.0 } else { 100.0 * (self.stores + self.reloads) as f64 / self.instructions as f64 }
    }
}

impl std::ops::AddAssign for Spills {
    fn add_assign(&mut self, other: Spills) {
        self.instructions += other.instructions;
        self.stores += other.stores;
        self.reloads += other.reloads;
    }
}

/// Counts the spills of a function.
pub fn spills(function: &Function) -> Spills {
    let places = places(function);
    let stores = places.iter().filter(|it| it.kind == Kind::Spill).count();
    Spills { instructions: function.instructions.len(), stores, reloads: places.len() - stores }
}

/// The slots of one function as they are used.
#[derive(Default)]
struct Use {
    widths: BTreeSet<u8>,
    stores: Vec<usize>,
    loads: Vec<usize>,
}

/// All spills and reloads of a function, in order.
pub fn places(function: &Function) -> Vec<Place> {
    let frame = Frame::of(function);
    let reachable = reachable(function, &frame);
    let mut uses: BTreeMap<Slot, Use> = BTreeMap::new();
    for (idx, instruction) in function.instructions.iter().enumerate() {
        // Saved registers of the caller come and go with the stack pointer.
        let is_push = instruction.writes.iter().any(|it| it.out == Out::BaseUpdate);
        if is_push
            || matches!(instruction.class, Class::StoreMultiple | Class::LoadMultiple)
            || matches!(instruction.flow, Flow::Call { .. })
        {
            continue;
        }
        for access in &instruction.accesses {
            let Some(slot) = frame.slot(idx, access) else { continue };
            // What lies above the entry's stack pointer is the caller's.
            let is_argument = slot.count == 0 && slot.offset >= 0;
            if is_argument || reachable.get(&slot.count).is_some_and(|lowest| slot.offset.saturating_add(i64::from(access.width)) > *lowest)
            {
                continue;
            }
            let used = uses.entry(slot).or_default();
            used.widths.insert(access.width);
            if access.is_store { &mut used.stores } else { &mut used.loads }.push(idx);
        }
    }
    let mut places = Vec::new();
    for (slot, used) in &uses {
        let [width] = used.widths.iter().copied().collect::<Vec<u8>>()[..] else { continue };
        if used.stores.is_empty() || used.loads.is_empty() {
            continue;
        }
        let place = |idx: usize, kind: Kind| Place { idx, kind, slot: *slot, width };
        places.extend(used.stores.iter().map(|&idx| place(idx, Kind::Spill)));
        places.extend(used.loads.iter().filter(|idx| !used.stores.contains(idx)).map(|&idx| place(idx, Kind::Reload)));
    }
    places.sort_by_key(|it| (it.idx, it.slot));
    places.dedup_by_key(|it| (it.idx, it.kind));
    places
}

/// For each count the lowest place of the frame that something else may reach.
fn reachable(function: &Function, frame: &Frame) -> BTreeMap<usize, i64> {
    let conventions = function.isa.conventions();
    let mut lowest: BTreeMap<usize, i64> = BTreeMap::new();
    let mut reach = |slot: Option<Slot>| {
        if let Some(slot) = slot {
            let known = lowest.entry(slot.count).or_insert(slot.offset);
            *known = (*known).min(slot.offset);
        }
    };
    let pointers = [Some(conventions.stack_pointer), conventions.frame_pointer];
    for (idx, instruction) in function.instructions.iter().enumerate() {
        for access in instruction.accesses.iter().filter(|it| it.index.is_some()) {
            reach(access.base.and_then(|base| frame.pointer(idx, base, access.disp)));
        }
        let is_own = |reg| pointers.contains(&Some(reg));
        let stays_own = instruction.writes.iter().all(|it| is_own(it.reg) || conventions.flags.contains(&it.reg));
        if !instruction.accesses.is_empty() || stays_own {
            continue;
        }
        for read in instruction.reads.iter().filter(|it| is_own(it.reg)) {
            reach(frame.pointer(idx, read.reg, address_offset(instruction)));
        }
    }
    lowest
}

/// What an instruction adds to the pointer whose address it takes.
fn address_offset(instruction: &crate::code::Instruction) -> i64 {
    use crate::code::{Op, Value};
    match instruction.operation.map(|it| (it.op, it.a, it.b)) {
        Some((Op::Add, _, Value::Const(by)) | (Op::Add, Value::Const(by), _)) => by as i64,
        Some((Op::Sub, _, Value::Const(by))) => (by as i64).wrapping_neg(),
        _ => 0,
    }
}
