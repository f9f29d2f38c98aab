//! The pieces of a path: what belongs to a block, to a round of a loop, to a block of Thumb's `it`; and
//! what single instructions of it may do.

use crate::decode::Isa;
use crate::decode::code::{Access, Class, Delay, Flow, Instruction, Out, Reg, Role};
use crate::facts::nests::Nests;
use crate::facts::trace::Trace;
use crate::program::function::Function;

/// Whether each instruction is an exit.
pub(super) fn is_exit(trace: &Trace) -> Vec<bool> {
    let mut is_exit = vec![false; trace.places.len()];
    trace.exits.iter().for_each(|exit| is_exit[exit.at] = true);
    is_exit
}

/// The block of each instruction: a new one after each branch and where a branch leads.
pub(super) fn blocks(function: &Function, trace: &Trace) -> Vec<u32> {
    let is_led_to = function.led_to();
    let mut blocks = Vec::with_capacity(trace.places.len());
    let mut block = 0;
    let mut ends_behind = false;
    for (at, place) in trace.places.iter().enumerate() {
        if at > 0 && (ends_behind || is_led_to[*place]) {
            block += 1;
        }
        blocks.push(block);
        let instruction = &function.instructions[*place];
        let has_slot = slot_of(function, trace, at).is_some();
        let is_slot = at > 0 && slot_of(function, trace, at - 1) == Some(at);
        let is_end = instruction.flow != Flow::Next
            || instruction.is_barrier()
            || function.fixup(*place).is_some()
            || function.is_open(*place);
        ends_behind = is_slot || !has_slot && is_end;
    }
    blocks
}

/// How often flags were written before each instruction: between two with the same number a
/// condition says the same.
pub(super) fn flag_writes(function: &Function, trace: &Trace) -> Vec<u32> {
    let flags = function.isa.conventions().flags;
    let writes = |instruction: &Instruction| {
        is_call(instruction) || instruction.writes.iter().any(|write| flags.contains(&write.reg))
    };
    let mut n_writes = 0;
    let before = trace.places.iter().map(|place| {
        let before = n_writes;
        n_writes += u32::from(writes(&function.instructions[*place]));
        before
    });
    before.collect()
}

/// Whether each instruction is an `it` of Thumb or stands in its block.
pub(super) fn guards(function: &Function, trace: &Trace) -> Vec<bool> {
    let mut left = 0;
    let mut all: Vec<bool> = vec![false; function.instructions.len()];
    for (idx, instruction) in
        function.instructions.iter().enumerate().filter(|_| function.isa == Isa::T32)
    {
        all[idx] = left > 0;
        left = usize::saturating_sub(left, 1);
        if let Some(letters) = instruction
            .text
            .split(' ')
            .next()
            .filter(|part| instruction.class == Class::Nop && part.starts_with("it"))
        {
            all[idx] = true;
            left = letters.len() - 1;
        }
    }
    trace.places.iter().map(|place| all[*place]).collect()
}

/// The stretch of each instruction: a new one where a loop begins and where it ends. What is done
/// in each round of a loop cannot be done once before it.
pub(super) fn stretches(function: &Function, trace: &Trace) -> Vec<u32> {
    let nests = Nests::of(function);
    let mut stretch = 0;
    let behind = trace.places.windows(2).map(|window| {
        stretch += u32::from(nests.is_border(window[0], window[1]));
        stretch
    });
    std::iter::once(0).chain(behind).take(trace.places.len()).collect()
}

/// The instruction in the delay slot of a branch, if it is done whichever way control goes.
pub(super) fn slot_of(function: &Function, trace: &Trace, branch_at: usize) -> Option<usize> {
    let has_slot = function.instructions[trace.places[branch_at]].delay == Delay::Slot;
    let next = trace.places.get(branch_at + 1)?;
    (has_slot && *next == trace.places[branch_at] + 1).then_some(branch_at + 1)
}

pub(super) fn is_call(instruction: &Instruction) -> bool {
    matches!(instruction.flow, Flow::Call { .. } | Flow::LastCall)
}

/// Constants lie so far from the code that loads them at most, in bytes.
const POOL_BYTES: u64 = 8192;

pub(super) fn is_near(instruction: &Instruction, access: &Access) -> bool {
    instruction.address.abs_diff(access.disp.cast_unsigned()) <= POOL_BYTES
}

/// It pushes registers of the caller or pops them back: no pointer leads there, though others may
/// lead into the frame.
pub(super) fn keeps_for_caller(function: &Function, instruction: &Instruction) -> bool {
    let conventions = function.isa.conventions();
    let stack = conventions.stack_pointer;
    let listed = || conventions.saved.iter().copied().chain(conventions.link);
    let is_kept = |reg: Reg| listed().chain(conventions.unlisted()).any(|other| other == reg);
    let moves =
        instruction.writes.iter().any(|write| write.reg == stack && write.out == Out::BaseUpdate);
    let mut stored = instruction.reads.iter().filter(|read| read.role == Role::Data);
    let mut loaded = instruction.writes.iter().filter(|write| write.reg != stack);
    moves && stored.all(|read| is_kept(read.reg)) && loaded.all(|write| is_kept(write.reg))
}

/// Done in vain it does no harm, its address being good.
pub(super) fn is_speculable(instruction: &Instruction) -> bool {
    let plain = match instruction.class {
        Class::Alu
        | Class::AluShiftImm
        | Class::AluShiftReg
        | Class::Shift
        | Class::Extend
        | Class::Constant
        | Class::Nop => true,
        Class::Mul | Class::MulFlags | Class::MulLong | Class::MulLongFlags | Class::MulHalf => {
            true
        }
        Class::MulWide | Class::MulAddWide | Class::MulHigh => true,
        Class::Load | Class::LoadSlow | Class::LoadDouble | Class::LoadMultiple => true,
        // A division may trap, and what floating point raises nobody looked into.
        Class::Div
        | Class::Float
        | Class::FloatMul
        | Class::FloatDiv
        | Class::FloatMove
        | Class::FloatLoad
        | Class::FloatStore => false,
        Class::Vector
        | Class::VectorLogic
        | Class::VectorShift
        | Class::VectorLong
        | Class::VectorPermute
        | Class::VectorMul => false,
        Class::Store
        | Class::StoreSlow
        | Class::StoreDouble
        | Class::StoreMultiple
        | Class::Atomic => false,
        Class::Branch
        | Class::Call
        | Class::Jump
        | Class::Return
        | Class::Window
        | Class::System => false,
    };
    plain && instruction.flow == Flow::Next
}
