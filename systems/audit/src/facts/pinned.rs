//! Values that the conventions of calls want in one register: renaming does not help a writer that
//! comes too late or too early.
//!
//! ```text
//! ld  a5, 8(a0)        a0 holds the argument
//! li  a0, 0            pinned: the result is returned in a0, so this stays after the load
//! ret
//! ```
//!
//! A result, what the caller gets back and the return address are wanted where the function
//! returns. An argument is wanted where somebody is called. Where it is not known how many there are,
//! those count up to the last one that is written and not read before the call or return, and the
//! first in any case: a guess, of which what is said of orders has to tell. Of ways that leave the
//! path the first counts alone.

use crate::decode::code::{Flow, Out, Reg, Write};
use crate::facts::liveness::{Liveness, RegSet, left_at, returned};
use crate::facts::trace::{End, Trace};
use crate::program::function::Function;

/// For each instruction of a trace the registers that hold, after it, a value
/// that is wanted there.
pub fn pinned(function: &Function, trace: &Trace) -> Vec<RegSet> {
    pinned_with(function, trace, true)
}

/// The same of what is known: of arguments that are guessed the first alone.
pub fn surely_pinned(function: &Function, trace: &Trace) -> Vec<RegSet> {
    pinned_with(function, trace, false)
}

/// The calls of a trace of which it is guessed how many arguments they have: the place in it and
/// that number of arguments.
pub fn guesses(function: &Function, trace: &Trace) -> Vec<(usize, usize)> {
    let n = trace.places.len();
    let guess = |at: usize, end: usize| {
        let is_known = function.arguments_at(trace.places[at]).is_some();
        let arguments = function.isa.conventions().arguments;
        let n_arguments = up_to_unread(function, trace, arguments, end).len();
        (!is_known && n_arguments > 1).then_some((at, n_arguments))
    };
    let is_call = |at: &usize| {
        let flow = function.instructions[trace.places[*at]].flow;
        matches!(flow, Flow::Call { .. } | Flow::LastCall)
    };
    let calls = (0..n).filter(is_call).filter_map(|at| guess(at, at));
    let last = n.checked_sub(1).filter(|_| trace.end == End::Jump);
    calls.chain(last.and_then(|at| guess(at, n))).collect()
}

fn pinned_with(function: &Function, trace: &Trace, guesses: bool) -> Vec<RegSet> {
    let conventions = function.isa.conventions();
    let elsewhere = Liveness::of_conventions(function);
    let n = trace.places.len();
    let resumes = |at: usize| function.instructions[trace.places[at]].flow == Flow::Resume;
    let mut wanted = match trace.end {
        // The interrupted code sees every register.
        End::Return if n > 0 && resumes(n - 1) => RegSet::ALL,
        End::Return => {
            let mut all = returned(function);
            all.add_all(
                &up_to_unread(function, trace, function.isa.conventions().results, n)
                    .iter()
                    .copied()
                    .collect(),
            );
            all
        }
        End::Jump => passed(function, trace, n, guesses),
        // What comes back to the head of a loop may have other names in all of it.
        End::Stop | End::Loop => RegSet::default(),
    };
    let mut pinned = vec![RegSet::default(); n];
    for at in (0..n).rev() {
        let instruction = &function.instructions[trace.places[at]];
        if trace.exits.iter().any(|exit| exit.at == at) {
            let place = trace.places[at];
            let there = match (function.target(place), function.cases_of(place)) {
                (Some(to), _) => Some(*elsewhere.before(to)),
                (None, Some(cases)) => Some(elsewhere.before_any(&cases)),
                (None, None) => None,
            };
            let leaves = match instruction.flow {
                Flow::Resume => RegSet::ALL,
                Flow::Return => returned(function),
                _ => left_at(function, trace.places[at]),
            };
            wanted.add_all(&there.unwrap_or(leaves));
        }
        pinned[at] = wanted;
        if matches!(instruction.flow, Flow::Call { .. } | Flow::LastCall) {
            conventions.scratch.iter().for_each(|reg| wanted.remove(*reg));
            wanted.add_all(&passed(function, trace, at, guesses));
        }
        // What is written in part, counted on, or perhaps not written at all is in the same
        // register before.
        let is_whole = |write: &&Write| {
            write.out != Out::BaseUpdate && u32::from(conventions.bits) <= write.bits.count_ones()
        };
        if !instruction.is_guarded() {
            instruction.writes.iter().filter(is_whole).for_each(|write| wanted.remove(write.reg));
        }
    }
    pinned
}

/// The arguments of the function called at this place of the trace, or after its end, as far as
/// they are known or the path shows them.
fn passed(function: &Function, trace: &Trace, call_at: usize, guesses: bool) -> RegSet {
    let arguments = function.isa.conventions().arguments;
    let is_last = call_at == trace.places.len();
    let place = if is_last { trace.places.last() } else { trace.places.get(call_at) };
    let known = place.and_then(|idx| function.arguments_at(*idx));
    let guessed =
        if guesses { up_to_unread(function, trace, arguments, call_at) } else { &arguments[..1] };
    let mut all: RegSet = known.unwrap_or(guessed).iter().copied().collect();
    if let Some(idx) = place.filter(|_| is_last) {
        all.add_all(&left_at(function, *idx));
    }
    all
}

/// The first of these registers, and those up to the last one that is written since the last call
/// and not read before this place.
fn up_to_unread<'a>(function: &Function, trace: &Trace, regs: &'a [Reg], end: usize) -> &'a [Reg] {
    let instruction = |at: usize| &function.instructions[trace.places[at]];
    let is_call = |at: &usize| matches!(instruction(*at).flow, Flow::Call { .. } | Flow::LastCall);
    let first = (0..end).rev().find(is_call).map_or(0, |idx| idx + 1);
    let is_unread = |reg: Reg| {
        let writes = |at: &usize| instruction(*at).writes.iter().any(|write| write.reg == reg);
        let reads = |at: usize| instruction(at).reads.iter().any(|read| read.reg == reg);
        // Where the callee lies is no argument.
        let is_target = trace.places.get(end).is_some_and(|idx| {
            function.instructions[*idx].reads.iter().any(|read| read.reg == reg)
        });
        !is_target
            && (first..end).rev().find(writes).is_some_and(|written| !(written + 1..end).any(reads))
    };
    let n = regs.iter().rposition(|reg| is_unread(*reg)).map_or(1, |last| last + 1);
    &regs[..n.min(regs.len())]
}
