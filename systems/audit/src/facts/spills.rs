//! Values that the compiler had no register for: stores to the frame and loads from it.
//!
//! ```text
//! str r3, [sp, #4]     spill: the slot holds a value and nothing else
//! ...
//! ldr r3, [sp, #4]     reload
//! ```
//!
//! A load counts if on every way to it the same slot was stored in the same width and not
//! partly since, and nothing else can reach the slot. An instruction that stores or loads several
//! registers has a slot for each: what one stores may come back by two. What can be reached is not
//! known exactly, because code does not say how long a variable is whose address it takes.
//! Compilers lay such variables away from the pointer that they count from, and their own slots
//! near to it. So by way of the stack pointer all above such an address can be reached, and by way
//! of a frame pointer only the address itself. A store counts if a load that counts reads its slot.
//! Pushes and pops are not counted: they keep the registers of the caller. An instruction counts
//! once.
//!
//! Source: the rule is ours; it is checked against the comments `Spill` and `Reload` of Clang.

use std::collections::{BTreeMap, BTreeSet};

use crate::decode::code::{Access, Class, Flow, Instruction, Out};
use crate::facts::frame::{self, Slot, StackFrame};
use crate::program::function::Function;

/// What an instruction does with a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SpillKind {
    Spill,
    Reload,
}

/// One slot of a spill or reload. An operand that is both read and written is a spill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpillPlace {
    pub idx: usize,
    pub kind: SpillKind,
    pub slot: Slot,
    pub width: u8,
}

/// The spills of a function, or of several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spills {
    pub instructions: usize,
    /// Stores of spilled values.
    pub stores: usize,
    /// Loads of them, those inside other instructions too.
    pub reloads: usize,
}

impl Spills {
    /// Spills and reloads in percent of all instructions.
    pub fn share_pct(&self) -> f64 {
        if self.instructions == 0 {
            0.0
        } else {
            100.0 * (self.stores + self.reloads) as f64 / self.instructions as f64
        }
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
    let mut places = places(function);
    places.dedup_by_key(|place| (place.idx, place.kind));
    let stores = places.iter().filter(|place| place.kind == SpillKind::Spill).count();
    Spills { instructions: function.instructions.len(), stores, reloads: places.len() - stores }
}

/// One access to a slot.
#[derive(Debug, Clone, Copy)]
struct Touch {
    idx: usize,
    is_store: bool,
    /// Which pair of slot and width, as a place in a list.
    what: usize,
}

/// All spills and reloads of a function, in order.
pub fn places(function: &Function) -> Vec<SpillPlace> {
    let frame = StackFrame::of(function);
    let mut pairs: Vec<(Slot, u8)> = Vec::new();
    let touches = touches(function, &frame, &mut pairs);
    let is_reload = reloads(function, &touches, &pairs);
    let reloaded: BTreeSet<usize> =
        touches.iter().zip(&is_reload).filter(|(_, is)| **is).map(|(it, _)| it.what).collect();
    let mut places: Vec<SpillPlace> = Vec::new();
    for (touch, is_reload) in touches.iter().zip(is_reload) {
        let (slot, width) = pairs[touch.what];
        let kind = if touch.is_store { SpillKind::Spill } else { SpillKind::Reload };
        if is_reload || touch.is_store && reloaded.contains(&touch.what) {
            places.push(SpillPlace { idx: touch.idx, kind, slot, width });
        }
    }
    // An operand that is read and written is one access of the program.
    let spilled: BTreeSet<(usize, Slot)> = places
        .iter()
        .filter(|place| place.kind == SpillKind::Spill)
        .map(|place| (place.idx, place.slot))
        .collect();
    places.retain(|place| {
        place.kind == SpillKind::Spill || !spilled.contains(&(place.idx, place.slot))
    });
    places
}

/// An access to a slot that only this function can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnAccess {
    pub idx: usize,
    pub is_store: bool,
    pub slot: Slot,
    pub width: u8,
}

/// Instructions that access nothing but what this function alone can reach: its frame if its
/// address is known nowhere else, or such slots of it; and its arguments on the stack.
pub fn in_own_frame(function: &Function, frame: &StackFrame) -> BTreeSet<usize> {
    let accesses = |idx: usize| &function.instructions[idx].accesses;
    let all = |is_meant: &dyn Fn(Slot, u8) -> bool| -> Vec<usize> {
        let is = |idx: usize, access: &Access| {
            frame.slot(idx, access).is_some_and(|slot| is_meant(slot, access.width))
        };
        let is_all = |idx: &usize| {
            !accesses(*idx).is_empty() && accesses(*idx).iter().all(|access| is(*idx, access))
        };
        (0..function.instructions.len()).filter(is_all).collect()
    };
    let mut own: BTreeSet<usize> = if frame::is_private(function) {
        all(&|slot, _| slot.count == 0 && slot.offset < 0).into_iter().collect()
    } else {
        let single = own_accesses(function).into_iter().map(|access| access.idx);
        single.filter(|idx| accesses(*idx).len() == 1).collect()
    };
    if takes_arguments(function) {
        let reachable = reachable(function, frame);
        let is_own = |slot: Slot, width: u8| {
            slot.is_argument() && !reachable.has_argument(slot, width, saved_bytes(function))
        };
        own.extend(all(&is_own));
    }
    own
}

/// What lies above the stack pointer at the function's beginning are arguments, which no pointer of
/// the caller's leads to: a compiler made the code, as one function and not as a part that runs in
/// the frame of another.
fn takes_arguments(function: &Function) -> bool {
    let first = function.frames.first().and_then(|frames| frames.first());
    let is_assembly = |file: &str| [".S", ".s", ".asm"].iter().any(|end| file.ends_with(end));
    let is_part = [".cold", "OUTLINED_FUNCTION_"].iter().any(|it| function.name.contains(it));
    first.is_some_and(|first| !is_assembly(&first.file)) && !is_part
}

/// So many bytes below its arguments on the stack a function may store those that came in
/// registers, as a part of the same object.
fn saved_bytes(function: &Function) -> i64 {
    let conventions = function.isa.conventions();
    conventions.arguments.len() as i64 * i64::from(conventions.bits / 8)
}

/// All accesses of single registers to such slots, in order.
pub fn own_accesses(function: &Function) -> Vec<OwnAccess> {
    let mut pairs = Vec::new();
    let touches = touches(function, &StackFrame::of(function), &mut pairs);
    touches
        .iter()
        .map(|touch| OwnAccess {
            idx: touch.idx,
            is_store: touch.is_store,
            slot: pairs[touch.what].0,
            width: pairs[touch.what].1,
        })
        .collect()
}

/// All accesses to slots of the function's own that nothing else can reach.
fn touches(function: &Function, frame: &StackFrame, pairs: &mut Vec<(Slot, u8)>) -> Vec<Touch> {
    let reachable = reachable(function, frame);
    let mut known: BTreeMap<(Slot, u8), usize> = BTreeMap::new();
    let mut touches = Vec::new();
    for (idx, instruction) in function.instructions.iter().enumerate() {
        // Saved registers of the caller come and go with the stack pointer.
        let is_push = instruction.writes.iter().any(|write| write.out == Out::BaseUpdate);
        if is_push || matches!(instruction.flow, Flow::Call { .. }) {
            continue;
        }
        for access in &registers_apart(instruction) {
            let Some(slot) = frame.slot(idx, access) else { continue };
            // What lies above the entry's stack pointer is the caller's.
            if slot.is_argument() || reachable.has(slot, access.width) {
                continue;
            }
            let pair = (slot, access.width);
            let what = *known.entry(pair).or_insert_with(|| {
                pairs.push(pair);
                pairs.len() - 1
            });
            touches.push(Touch { idx, is_store: access.is_store, what });
        }
    }
    touches
}

/// The accesses of an instruction, one for each register: a pair of words that the decoder has as
/// one access is two.
fn registers_apart(instruction: &Instruction) -> Vec<Access> {
    match (instruction.class, instruction.accesses.as_slice()) {
        (Class::StoreDouble | Class::LoadDouble, [pair])
            if pair.index.is_none() && pair.width % 2 == 0 =>
        {
            let width = pair.width / 2;
            vec![
                Access { width, ..*pair },
                Access { width, disp: pair.disp.wrapping_add(i64::from(width)), ..*pair },
            ]
        }
        (_, accesses) => accesses.to_vec(),
    }
}

/// A set of small numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 != 0
    }

    fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn remove(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    fn intersect(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }
}

/// For each touch: it is a load, and on every way there its slot was stored in the same width
/// and not partly since.
fn reloads(function: &Function, touches: &[Touch], pairs: &[(Slot, u8)]) -> Vec<bool> {
    let overlaps = overlaps(pairs);
    let apply = |set: &mut Set, touch: &Touch| {
        if touch.is_store {
            overlaps[touch.what].iter().for_each(|&overlap| set.remove(overlap));
            // A store under a condition may not be done, or only where the load is not.
            if !function.instructions[touch.idx].is_guarded() {
                set.insert(touch.what);
            }
        }
    };
    let starts = block_starts(function);
    let own = |block: usize| {
        let end = starts.get(block + 1).copied().unwrap_or(function.instructions.len());
        let from = touches.partition_point(|touch| touch.idx < starts[block]);
        from..touches.partition_point(|touch| touch.idx < end)
    };
    let block_of = |idx: usize| starts.partition_point(|&start| start <= idx) - 1;
    let n_words = pairs.len().div_ceil(64);
    let mut before: Vec<Option<Set>> = vec![None; starts.len()];
    let mut open = Vec::new();
    if !starts.is_empty() {
        before[0] = Some(Set(vec![0; n_words]));
        open.push(0);
    }
    while let Some(block) = open.pop() {
        let Some(mut set) = before[block].clone() else { continue };
        touches[own(block)].iter().for_each(|touch| apply(&mut set, touch));
        let last = starts.get(block + 1).copied().unwrap_or(function.instructions.len()) - 1;
        for to in frame::successors(function, last).into_iter().map(block_of) {
            let merged = match &before[to] {
                None => set.clone(),
                Some(known) => {
                    let mut both = known.clone();
                    both.intersect(&set);
                    both
                }
            };
            if before[to].as_ref() != Some(&merged) {
                before[to] = Some(merged);
                open.push(to);
            }
        }
    }
    let mut found = Vec::with_capacity(touches.len());
    for (block, before) in before.iter().enumerate() {
        // Where no path leads nothing is known.
        let mut set = before.clone().unwrap_or_else(|| Set(vec![0; n_words]));
        for touch in &touches[own(block)] {
            found.push(!touch.is_store && set.has(touch.what));
            apply(&mut set, touch);
        }
    }
    found
}

/// For each pair the others that share a byte with it.
fn overlaps(pairs: &[(Slot, u8)]) -> Vec<Vec<usize>> {
    const WIDTH_MAX: i64 = 64;
    let mut sorted: Vec<(Slot, usize)> =
        pairs.iter().enumerate().map(|(at, (slot, _))| (*slot, at)).collect();
    sorted.sort_unstable();
    let end = |at: usize| pairs[at].0.offset.saturating_add(i64::from(pairs[at].1));
    let mut found = vec![Vec::new(); pairs.len()];
    for (place, &(slot, at)) in sorted.iter().enumerate() {
        let near = sorted[..place]
            .iter()
            .rev()
            .take_while(|(it, _)| it.count == slot.count && it.offset >= slot.offset - WIDTH_MAX);
        for &(_, other) in near.filter(|(_, other)| end(*other) > slot.offset) {
            found[at].push(other);
            found[other].push(at);
        }
    }
    found
}

/// Where blocks begin: the first instruction, targets, and what stands after a branch.
fn block_starts(function: &Function) -> Vec<usize> {
    let mut starts = BTreeSet::new();
    for idx in 0..function.instructions.len() {
        if idx == 0 {
            starts.insert(0);
        }
        let next = frame::successors(function, idx);
        if next != [idx + 1] {
            starts.extend(next);
            if idx + 1 < function.instructions.len() {
                starts.insert(idx + 1);
            }
        }
    }
    starts.into_iter().collect()
}

/// What something else may reach through an address.
#[derive(Default)]
struct Reachable {
    /// For each count the lowest place whose address is taken by way of the stack pointer.
    lowest: BTreeMap<usize, i64>,
    /// All places whose address is taken.
    places: BTreeSet<Slot>,
    /// An address is made in two steps, so that it may lead to any argument on the stack.
    is_in_steps: bool,
}

impl Reachable {
    fn has(&self, slot: Slot, width: u8) -> bool {
        let end = slot.offset.saturating_add(i64::from(width));
        let inside = |it: &Slot| it.count == slot.count && (slot.offset..end).contains(&it.offset);
        self.lowest.get(&slot.count).is_some_and(|lowest| end > *lowest)
            || self.places.range(slot..).take_while(|range| range.offset < end).any(inside)
    }

    /// The same of an argument on the stack: an address in the frame does not lead up to there,
    /// unless that of what is stored right below.
    fn has_argument(&self, slot: Slot, width: u8, saved_bytes: i64) -> bool {
        let end = slot.offset.saturating_add(i64::from(width));
        let leads = |place: &Slot| place.count == 0 && (-saved_bytes..end).contains(&place.offset);
        self.is_in_steps || self.places.iter().any(leads)
    }
}

fn reachable(function: &Function, frame: &StackFrame) -> Reachable {
    let conventions = function.isa.conventions();
    let mut found = Reachable::default();
    let mut halves = BTreeSet::new();
    let pointers = [Some(conventions.stack_pointer), conventions.frame_pointer];
    for (idx, instruction) in function.instructions.iter().enumerate() {
        let is_own = |reg| pointers.contains(&Some(reg));
        let stays_own = instruction
            .writes
            .iter()
            .all(|write| is_own(write.reg) || conventions.flags.contains(&write.reg));
        if !instruction.accesses.is_empty() || stays_own {
            continue;
        }
        for read in instruction.reads.iter().filter(|read| is_own(read.reg)) {
            let Some(slot) = frame.pointer(idx, read.reg, address_offset(instruction)) else {
                continue;
            };
            found.places.insert(slot);
            // What no immediate holds is added in two parts, the upper one first.
            if address_offset(instruction) % UPPER == 0 {
                halves.extend(instruction.writes.iter().map(|write| write.reg));
            }
            if read.reg == conventions.stack_pointer {
                let known = found.lowest.entry(slot.count).or_insert(slot.offset);
                *known = (*known).min(slot.offset);
            }
        }
    }
    found.is_in_steps = function.instructions.iter().any(|instruction| {
        address_offset(instruction) != 0
            && instruction.reads.iter().any(|read| halves.contains(&read.reg))
    });
    found
}

/// Of this the upper part of a sum is a multiple: A64's `lsl #12`.
const UPPER: i64 = 1 << 12;

/// What an instruction adds to the pointer whose address it takes.
fn address_offset(instruction: &Instruction) -> i64 {
    use crate::decode::code::{Op, Value};
    match instruction.operation.map(|operation| (operation.op, operation.a, operation.b)) {
        Some((Op::Add, _, Value::Const(by)) | (Op::Add, Value::Const(by), _)) => by as i64,
        Some((Op::Sub, _, Value::Const(by))) => (by as i64).wrapping_neg(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Isa;

    /// A function of A32 words.
    fn check(words: &[u32], expected: &[(usize, SpillKind)]) {
        let instructions = words.iter().enumerate().map(|(idx, word)| {
            Isa::A32
                .decode(4 * idx as u64, &word.to_le_bytes())
                .unwrap_or_else(|error| panic!("{error}"))
        });
        let instructions: Vec<_> = instructions.collect();
        let function = Function {
            name: "f".into(),
            isa: Isa::A32,
            frames: vec![Vec::new(); instructions.len()],
            instructions,
            callees: BTreeMap::new(),
            is_cold: false,
            constants: Default::default(),
            tables: Default::default(),
            cases: Default::default(),
            arguments: Default::default(),
            addresses: Default::default(),
        };
        let found: Vec<(usize, SpillKind)> =
            places(&function).iter().map(|place| (place.idx, place.kind)).collect();
        assert_eq!(found, expected);
    }

    const PUSH: u32 = 0xe92d_4070; // push {r4, r5, r6, lr}
    const DOWN: u32 = 0xe24d_d008; // sub sp, sp, #8
    const STORE: u32 = 0xe58d_3004; // str r3, [sp, #4]
    const LOAD: u32 = 0xe59d_2004; // ldr r2, [sp, #4]
    const UP: u32 = 0xe28d_d008; // add sp, sp, #8
    const POP: u32 = 0xe8bd_8070; // pop {r4, r5, r6, pc}

    #[test]
    fn a_store_and_its_load() {
        check(
            &[PUSH, DOWN, STORE, LOAD, UP, POP],
            &[(2, SpillKind::Spill), (3, SpillKind::Reload)],
        );
    }

    #[test]
    fn a_store_that_nothing_reads_is_none() {
        check(&[PUSH, DOWN, STORE, UP, POP], &[]);
    }

    #[test]
    fn an_argument_on_the_stack_is_none() {
        check(&[0xe59d_2004, 0xe12f_ff1e], &[]); // ldr r2, [sp, #4]; bx lr
    }

    #[test]
    fn a_variable_whose_address_is_taken_is_none() {
        // add r0, sp, #4; bl elsewhere
        check(&[PUSH, DOWN, STORE, 0xe28d_0004, 0xeb00_0100, LOAD, UP, POP], &[]);
        // Below it the compiler's own slots lie.
        check(
            &[PUSH, DOWN, 0xe58d_3000, 0xe28d_0004, 0xeb00_0100, 0xe59d_2000, UP, POP],
            &[(2, SpillKind::Spill), (5, SpillKind::Reload)],
        );
    }

    #[test]
    fn a_load_that_some_way_reaches_without_the_store_is_none() {
        // cmp r0, #0; beq over the store
        check(&[PUSH, DOWN, 0xe350_0000, 0x0a00_0000, STORE, LOAD, UP, POP], &[]);
        check(
            &[PUSH, DOWN, STORE, 0xe350_0000, 0x0a00_0000, STORE, LOAD, UP, POP],
            &[(2, SpillKind::Spill), (5, SpillKind::Spill), (6, SpillKind::Reload)],
        );
    }

    #[test]
    fn a_load_behind_a_store_that_may_not_be_done_is_none() {
        // cmp r0, #0; strne r3, [sp, #4]; ldreq r2, [sp, #4], and ldr r2, [sp, #4]
        check(&[PUSH, DOWN, 0xe350_0000, 0x158d_3004, 0x059d_2004, UP, POP], &[]);
        check(&[PUSH, DOWN, 0xe350_0000, 0x158d_3004, LOAD, UP, POP], &[]);
        // Where another store comes before, both are.
        check(
            &[PUSH, DOWN, STORE, 0xe350_0000, 0x158d_3004, LOAD, UP, POP],
            &[(2, SpillKind::Spill), (4, SpillKind::Spill), (5, SpillKind::Reload)],
        );
    }

    #[test]
    fn a_load_of_another_width_is_none() {
        check(&[PUSH, DOWN, STORE, 0xe5dd_2004, UP, POP], &[]); // ldrb r2, [sp, #4]
    }

    #[test]
    fn a_slot_overwritten_in_part_is_none() {
        check(&[PUSH, DOWN, STORE, 0xe5cd_3005, LOAD, UP, POP], &[]); // strb r3, [sp, #5]
    }
}
