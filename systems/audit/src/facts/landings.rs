//! Places of a function that control comes to though none of its instructions leads there: what
//! fixes a fault up, the target of a jump label, the landing pad of an exception, a label that only
//! data names.
//!
//! ```text
//!       add  x5, x0, x2     the end, for `fix`
//! 1:    sttr x3, [x6]       may fault: control goes on at `fix`
//!       ...
//!       ret
//! fix:  sub  x0, x5, x6     no branch leads here, and here x5 is read
//! ```
//!
//! From which instruction control comes no code says, so it is taken to come from every one.

use crate::decode::code::{Class, Delay, Flow};
use crate::program::function::Function;

/// All of them, in order. The cases of a `switch` are among them: what leads there
/// is not told apart.
pub fn landings(function: &Function) -> Vec<usize> {
    let mut all = in_tables(function);
    all.extend(unreached(function));
    all.sort_unstable();
    all.dedup();
    all
}

/// Those that tables name.
pub fn in_tables(function: &Function) -> Vec<usize> {
    let tables = &function.tables;
    let n = function.instructions.len();
    let labels = tables.patches.values().flat_map(|patch| &patch.leads_to);
    let named = tables.fixups.values().chain(labels).filter_map(|fixup| function.at(*fixup));
    // A branch that is written over may be none.
    let is_branch = |idx: &usize| function.instructions[*idx].flow != Flow::Next;
    let patched = (0..n)
        .filter(is_branch)
        .filter(|idx| !tables.patches.is_empty() && function.is_patched(*idx));
    let goes_on = patched.map(|patched| behind(function, patched).0).filter(|found| *found < n);
    named.chain(goes_on).collect()
}

/// Where code begins that no instruction leads to, directly or from the one before, and no table.
/// What fills the space before aligned code is none.
pub fn unreached(function: &Function) -> Vec<usize> {
    let n = function.instructions.len();
    let mut is_led_to = vec![false; n + 2];
    is_led_to[0] = true;
    in_tables(function).into_iter().for_each(|in_table| is_led_to[in_table] = true);
    for idx in 0..n {
        let (behind, goes_on) = behind(function, idx);
        is_led_to[behind] |= goes_on;
        let cases = function.cases_of(idx).into_iter().flatten();
        function.target(idx).into_iter().chain(cases).for_each(|to| is_led_to[to] = true);
        if behind == idx + 2 {
            is_led_to[idx + 1] = true;
        }
    }
    let is_filler = |number: usize| function.instructions[number].class == Class::Nop;
    let begins = |idx: &usize| {
        let first = (*idx..n).find(|idx| !is_filler(*idx) || is_led_to[*idx]);
        !is_led_to[*idx] && first.is_some_and(|found| found == *idx || !is_led_to[found])
    };
    (0..n).filter(begins).collect()
}

/// What every landing pad of C++ comes to: the handler begins, or the stack is unwound further.
const OF_PADS: [&str; 5] = [
    "_Unwind_Resume",
    "__cxa_begin_catch",
    "__cxa_end_cleanup",
    "__cxa_call_terminate",
    "__cxa_call_unexpected",
];

/// Control comes to `landing` when an exception unwinds the stack: out of a call.
pub fn is_pad(function: &Function, landing: usize) -> bool {
    let callee = |idx: usize| function.callees.get(&function.instructions[idx].address);
    let mut is_seen = vec![false; function.instructions.len()];
    let mut open = vec![landing];
    while let Some(idx) = open.pop() {
        if idx >= is_seen.len() || std::mem::replace(&mut is_seen[idx], true) {
            continue;
        }
        if callee(idx).is_some_and(|name| OF_PADS.contains(&name.as_str())) {
            return true;
        }
        let (behind, goes_on) = behind(function, idx);
        open.extend(function.target(idx).into_iter().chain(goes_on.then_some(behind)));
        open.extend(function.cases_of(idx).into_iter().flatten());
    }
    false
}

/// The place after an instruction and its delay slot, and whether control may come there from it.
pub fn behind(function: &Function, idx: usize) -> (usize, bool) {
    let instruction = &function.instructions[idx];
    let has_slot = instruction.delay != Delay::None && idx + 1 < function.instructions.len();
    let goes_on = match instruction.flow {
        Flow::Next | Flow::Call { .. } => true,
        Flow::Branch { is_conditional, .. } => is_conditional,
        Flow::Return | Flow::Resume | Flow::Jump | Flow::LastCall | Flow::Stop => {
            instruction.is_guarded()
        }
    };
    (idx + 1 + usize::from(has_slot), goes_on)
}
