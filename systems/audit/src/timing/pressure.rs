//! How many registers an order of the hot path needs at once.
//!
//! ```text
//! ldr r0, [r4]           r4 ip       Every value takes a register from the instruction that makes
//! ldr r3, [ip, #-208]    r0 ip       it to the last that reads it, in the new order. What is read on
//! and r5, r0, #3         r0 r3       the way out of a side exit is read at the exit.
//! cmp r5, #1             r5 r3
//! ```

use std::collections::BTreeMap;

use crate::decode::code::Reg;
use crate::facts::liveness::{RegSet, after_return, elsewhere};
use crate::facts::trace::{End, Exit, Trace};
use crate::program::function::Function;

/// Registers that hold values: those of the calling convention, but the stack pointer.
pub fn available(function: &Function) -> usize {
    general(function).len()
}

/// It is known what is read after the path and on all ways out of it.
pub fn is_known(function: &Function, trace: &Trace) -> bool {
    let stays = |exit: &Exit| function.target(trace.places[exit.at]).is_some();
    matches!(trace.end, End::Return | End::Stop) && trace.exits.iter().all(stays)
}

/// Most values that are alive at once when the trace is done in this order, each in a
/// register of its own.
pub fn needed(function: &Function, trace: &Trace, order: &[u32]) -> usize {
    let n = trace.places.len();
    let mut place = vec![0; n];
    for (new, at) in order.iter().enumerate() {
        place[*at as usize] = new;
    }
    let regs = named(function);
    // For each value, by writer (none: it was there before) and register: the place of its last
    // reader.
    let mut ends: BTreeMap<(Option<usize>, Reg), usize> = BTreeMap::new();
    let mut writers: BTreeMap<Reg, usize> = BTreeMap::new();
    let mut read = |writers: &BTreeMap<Reg, usize>, reg: Reg, by: usize| {
        if regs.contains(&reg) {
            let end = ends.entry((writers.get(&reg).copied(), reg)).or_insert(by);
            *end = by.max(*end);
        }
    };
    for (at, idx) in trace.places.iter().enumerate() {
        let instruction = &function.instructions[*idx];
        for it in &instruction.reads {
            read(&writers, it.reg, place[at]);
        }
        for exit in trace.exits.iter().filter(|exit| exit.at == at) {
            for reg in regs.iter().filter(|reg| exit.live.contains(**reg)) {
                read(&writers, *reg, place[at]);
            }
        }
        for it in &instruction.writes {
            // A guarded write goes to the register where the old value is: one value for both.
            if !instruction.is_guarded() {
                writers.insert(it.reg, at);
            }
            read(&writers, it.reg, place[at]);
        }
    }
    let live: RegSet = match trace.end {
        End::Return => after_return(function),
        End::Jump => trace.places.last().map_or(RegSet::ALL, |idx| elsewhere(function, *idx)),
        End::Stop => RegSet::default(),
        End::Loop => RegSet::ALL,
    };
    for reg in regs.iter().filter(|reg| live.contains(**reg)) {
        read(&writers, *reg, n);
    }
    // A register is free for the result of the instruction that reads it last.
    let mut change = vec![0i64; n + 2];
    for ((writer, _), end) in &ends {
        let begin = writer.map_or(0, |at| place[at] + 1);
        change[begin] += 1;
        change[(*end + 1).max(begin)] -= 1;
    }
    let alive = change.iter().scan(0i64, |sum, it| {
        *sum += it;
        Some(*sum)
    });
    usize::try_from(alive.max().unwrap_or(0)).expect("a value begins before it ends")
}

/// Those of them that an instruction names, or the caller wants back. A callee has other arguments
/// only if they were passed through, which no word shows.
fn named(function: &Function) -> Vec<Reg> {
    let mut is_named = RegSet::default();
    for instruction in &function.instructions {
        instruction.reads.iter().for_each(|read| is_named.insert(read.reg));
        instruction.writes.iter().for_each(|write| is_named.insert(write.reg));
    }
    let saved = function.isa.conventions().saved;
    let mut regs = general(function);
    regs.retain(|reg| is_named.contains(*reg) || saved.contains(reg));
    regs
}

fn general(function: &Function) -> Vec<Reg> {
    let conventions = function.isa.conventions();
    let all = conventions.arguments.iter().chain(conventions.saved).chain(conventions.scratch);
    let mut regs: Vec<Reg> = all
        .copied()
        .filter(|found| *found != conventions.stack_pointer && Some(*found) != conventions.zero)
        .collect();
    regs.sort_unstable();
    regs.dedup();
    regs
}
