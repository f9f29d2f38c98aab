//! Whether what a branch compares with zero is a pointer: it or a copy is followed or called on some
//! way from there, or the debug information says so of an argument that it is.
//!
//! ```text
//!     mov  r0, r1       both are it
//!     cbnz r1, 1f
//!     ...
//! 1:  cbz  r4, 2f       on some way from here, not on each
//!     bl   ensure       its first argument is declared a pointer
//! ```

use std::collections::{BTreeSet, VecDeque};

use crate::decode::code::{Flow, Instruction, Op, Reg, Role, Value};
use crate::facts::frame::successors;
use crate::facts::liveness::RegSet;
use crate::program::function::Function;

/// So many instructions are looked at before a branch.
const BEFORE_MAX: usize = 24;
/// And on all ways from it together.
const BEHIND_MAX: usize = 96;

/// The register that the branch at place `idx` compares with zero holds a pointer where control goes
/// on from there, at `from`.
pub fn is_pointer(function: &Function, idx: usize, from: usize, reg: Reg) -> bool {
    let (copies, is_said) = copies(function, idx, reg);
    is_said || is_followed(function, from, copies)
}

/// The registers that hold at place `idx` what this one holds, by the code straight before it; and
/// whether one of them is an argument there that is declared a pointer.
fn copies(function: &Function, idx: usize, reg: Reg) -> (RegSet, bool) {
    let mut copies = RegSet::from_iter([reg]);
    // Which hold it where we are on the way back, and which are written between there and `idx`.
    let (mut held, mut is_written) = (copies, RegSet::default());
    if is_declared(function, &function.instructions[idx], &held) {
        return (copies, true);
    }
    for instruction in function.instructions[..idx].iter().rev().take(BEFORE_MAX) {
        let goes_on = match instruction.flow {
            Flow::Next | Flow::Call { .. } => true,
            Flow::Branch { is_conditional, .. } => is_conditional,
            _ => false,
        };
        if !goes_on || held == RegSet::default() {
            return (copies, false);
        }
        let copy = copied(function, instruction);
        if let Some((to, _)) = copy.filter(|(_, from)| held.contains(*from))
            && !is_written.contains(to)
        {
            copies.insert(to);
        }
        let source = copy.filter(|(to, _)| held.contains(*to)).map(|(_, from)| from);
        overwrite(function, instruction, |reg| {
            held.remove(reg);
            is_written.insert(reg);
        });
        if let Some(from) = source {
            held.insert(from);
            if !is_written.contains(from) {
                copies.insert(from);
            }
        }
        if is_declared(function, instruction, &held) {
            return (copies, true);
        }
    }
    (copies, false)
}

/// What these registers hold at `from` is a base of an access, called, or an argument declared a
/// pointer, on some way from there.
fn is_followed(function: &Function, from: usize, held: RegSet) -> bool {
    let (mut open, mut seen) = (VecDeque::from([(from, held)]), BTreeSet::new());
    while let Some((idx, mut held)) = open.pop_front() {
        let Some(instruction) = function.instructions.get(idx) else { continue };
        if held == RegSet::default() || seen.len() == BEHIND_MAX || !seen.insert(idx) {
            continue;
        }
        let mut bases = instruction.accesses.iter().filter_map(|access| access.base);
        let mut targets = instruction.reads.iter().filter(|read| read.role == Role::Target);
        let leads_on = instruction.flow != Flow::Next;
        if bases.any(|base| held.contains(base))
            || targets.any(|target| held.contains(target.reg))
            || leads_on && is_declared(function, instruction, &held)
        {
            return true;
        }
        let copy = copied(function, instruction).filter(|(_, from)| held.contains(*from));
        overwrite(function, instruction, |reg| held.remove(reg));
        if let Some((to, _)) = copy {
            held.insert(to);
        }
        open.extend(successors(function, idx).into_iter().map(|to| (to, held)));
    }
    false
}

/// The debug information says of one of these registers that it holds a pointer just before this
/// one instruction is done.
fn is_declared(function: &Function, instruction: &Instruction, held: &RegSet) -> bool {
    let declared = function.addresses.get(&instruction.address);
    declared.is_some_and(|declared| declared.iter().any(|reg| held.contains(*reg)))
}

/// The register that the instruction makes a copy of another one, and that one.
fn copied(function: &Function, instruction: &Instruction) -> Option<(Reg, Reg)> {
    let made = instruction.operation.filter(|_| !instruction.is_guarded())?;
    let is_whole = made.width == function.isa.conventions().bits;
    match (made.op, made.a, made.b) {
        // ARMv6-M's `subs r5, r1, #0` tests besides.
        (Op::Move, Value::Reg(from), _)
        | (Op::Sub | Op::Add, Value::Reg(from), Value::Const(0))
            if is_whole =>
        {
            Some((made.result?, from))
        }
        _ => None,
    }
}

/// All registers that hold something else after the instruction.
fn overwrite(function: &Function, instruction: &Instruction, mut one: impl FnMut(Reg)) {
    instruction.writes.iter().for_each(|write| one(write.reg));
    if matches!(instruction.flow, Flow::Call { .. }) {
        function.isa.conventions().scratch.iter().for_each(|reg| one(*reg));
    }
}
