//! What is still to gain beyond C: the trace timed again without what no C can take away.
//!
//! A programmer in assembly may use registers that the platform keeps (frame pointer, thread
//! pointer, ...), and need not have a stack frame at all.

use std::collections::BTreeMap;

use machine::in_order::Core;

use crate::decode::code::{Instruction, Reg};
use crate::facts::frame::{Slot, StackFrame};
use crate::facts::trace::{Exit, Trace};
use crate::program::function::Function;
use crate::timing::depend::{Licence, dependences};
use crate::timing::pipe::Need;
use crate::timing::stalls::time;

/// Cycles that would go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct BeyondC {
    /// If registers that the platform keeps held what now lies in the stack frame.
    pub reserved_registers_cycles: u32,
    /// If there were no stack frame: nothing saved, nothing spilled, no stack pointer moved.
    pub stack_frame_cycles: u32,
}

/// Times the trace without these instructions.
pub fn beyond_c(
    function: &Function,
    frame: &StackFrame,
    trace: &Trace,
    core: &Core,
    total_cycles: u32,
) -> BeyondC {
    let slots = slots_of(function, frame, trace);
    let conventions = function.isa.conventions();
    // The stack pointer is the other question. A register that the function computes in was not
    // kept from it.
    let is_kept =
        |reg: Reg| reg != conventions.stack_pointer && !is_worked_in(function, frame, reg);
    let n_reserved = conventions.reserved.iter().filter(|(reg, _)| is_kept(*reg)).count();
    let mut by_use: Vec<(usize, Slot)> =
        slots.iter().map(|(slot, places)| (places.len(), *slot)).collect();
    by_use.sort_by_key(|(n, slot)| (std::cmp::Reverse(*n), *slot));
    let freed: Vec<usize> =
        by_use.iter().take(n_reserved).flat_map(|(_, slot)| slots[slot].clone()).collect();
    let of_frame: Vec<usize> = (0..trace.places.len())
        .filter(|at| is_of_frame(function, frame, trace.places[*at], conventions.stack_pointer))
        .collect();
    let without = |gone: &[usize]| {
        total_cycles.saturating_sub(time_without(function, frame, trace, core, gone))
    };
    BeyondC { reserved_registers_cycles: without(&freed), stack_frame_cycles: without(&of_frame) }
}

/// The slots that the trace accesses one at a time, each with the instructions that do, as
/// places in the trace.
fn slots_of(function: &Function, frame: &StackFrame, trace: &Trace) -> BTreeMap<Slot, Vec<usize>> {
    let mut slots: BTreeMap<Slot, Vec<usize>> = BTreeMap::new();
    for (at, place) in trace.places.iter().enumerate() {
        if let [access] = function.instructions[*place].accesses.as_slice()
            && let Some(slot) = frame.slot(*place, access)
            // Above the frame lie arguments, which the caller put there.
            && slot.offset < 0
        {
            slots.entry(slot).or_default().push(at);
        }
    }
    slots
}

/// Something writes the register that neither restores it nor makes it a frame pointer.
fn is_worked_in(function: &Function, frame: &StackFrame, reg: Reg) -> bool {
    let stack_pointer = function.isa.conventions().stack_pointer;
    let keeps = |idx: usize, it: &Instruction| {
        let restores = it.accesses.iter().any(|access| frame.slot(idx, access).is_some());
        restores || it.reads.iter().any(|read| read.reg == stack_pointer)
    };
    let mut all = function.instructions.iter().enumerate();
    all.any(|(idx, it)| it.writes.iter().any(|write| write.reg == reg) && !keeps(idx, it))
}

/// It only keeps the stack frame.
fn is_of_frame(function: &Function, frame: &StackFrame, idx: usize, stack_pointer: Reg) -> bool {
    let instruction: &Instruction = &function.instructions[idx];
    let own = |access| frame.slot(idx, access).is_some_and(|slot| slot.offset < 0);
    let touches_frame_only =
        !instruction.accesses.is_empty() && instruction.accesses.iter().all(own);
    let moves_pointer = instruction.accesses.is_empty()
        && instruction.writes.iter().any(|write| write.reg == stack_pointer);
    // A return that pops is still a return.
    (touches_frame_only || moves_pointer) && instruction.flow == crate::decode::code::Flow::Next
}

fn time_without(
    function: &Function,
    frame: &StackFrame,
    trace: &Trace,
    core: &Core,
    gone: &[usize],
) -> u32 {
    let is_gone = |at: &usize| gone.contains(at);
    let kept: Vec<usize> = (0..trace.places.len()).filter(|at| !is_gone(at)).collect();
    let exits = trace.exits.iter().filter_map(|exit| {
        Some(Exit { at: kept.iter().position(|it| *it == exit.at)?, ..exit.clone() })
    });
    let shorter = Trace {
        places: kept.iter().map(|at| trace.places[*at]).collect(),
        exits: exits.collect(),
        end: trace.end,
    };
    let edges = dependences(function, frame, &shorter, core, Licence::default());
    let needs = Need::of_trace(function, &shorter, core);
    let order: Vec<u32> = (0..needs.len() as u32).collect();
    time(&needs, &edges, &order, core).total_cycles
}
