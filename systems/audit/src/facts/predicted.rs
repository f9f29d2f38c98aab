//! Which way a branch goes, as compilers predict it: by what is there on either way, each sign with
//! the share of branches that it is right of.
//!
//! ```text
//!     cbz x0, 1f          x0 is a pointer below: it is not null           70 %
//!     ldr w1, [x0, #4]
//!     ...
//! 1:  mov w0, #-22        a negative number is returned: an error         98 %
//!     ret
//! ```
//!
//! The shares are those of gcc's `predict.def`, and signs are put together as gcc does it, by
//! Dempster and Shafer's rule (Wu and Larus, MICRO 1994). Loops and what never returns are the
//! path's own affair: no number is needed for them.

use std::collections::BTreeMap;

use crate::decode::code::{Flow, Instruction, Op, Reg, Value};
use crate::facts::landings::behind;
use crate::facts::pointers::is_pointer;
use crate::program::function::Function;
use crate::program::names::shown;

/// What a compiler lays straight on it believes in, for reasons that code does not show. Ours: less
/// than any other sign.
const STRAIGHT_ON: f64 = 0.65;
/// A pointer is not null: gcc's `PRED_POINTER`.
const NOT_NULL: f64 = 0.70;
/// No negative number is returned: gcc's `PRED_NEGATIVE_RETURN`.
const NO_ERROR: f64 = 0.98;
/// Nobody comes to a breakpoint for a debugger that may not be there: an assertion fails. Ours, as
/// much as an error.
const NO_BREAKPOINT: f64 = 0.98;
/// A callee whose name says that something went wrong is seldom called. Ours.
const NO_FAILURE: f64 = 0.9;
/// What such a name has as a word: `JS_ThrowTypeError`, `vm_panic`.
const FAILURES: [&str; 5] = ["throw", "raise", "fatal", "panic", "unhandled"];
/// What it ends in, as `report_error` and `luaL_argerror` do.
const FAILURE: &str = "error";
/// What asks for such a failure, or forgets it: `last_error`.
const ASKS: [&str; 8] = ["get", "last", "clear", "reset", "check", "is", "has", "no"];
/// Ways are looked at so far.
const INSTRUCTIONS_MAX: usize = 24;
/// Kernels and libraries return these as errors: `-E..`, and a plain -1.
const ERRORS: std::ops::RangeInclusive<i64> = -4095..=-1;

/// How likely the conditional branch at `idx` is taken, which leads `there`.
pub fn taken_share(function: &Function, idx: usize, there: usize) -> f64 {
    let (behind, _) = behind(function, idx);
    // Behind a jump that only lengthens the branch, `bls 1f; b far; 1:`, the code goes straight on.
    let skips_jump = match function.instructions.get(behind).map(|behind| behind.flow) {
        Some(Flow::Branch { is_conditional: false, target }) => {
            there == behind + 1 && target > function.instructions[there].address
        }
        _ => false,
    };
    let mut share = if skips_jump { STRAIGHT_ON } else { 1.0 - STRAIGHT_ON };
    match (returns_error(function, there), returns_error(function, behind)) {
        (true, false) => share = together(share, 1.0 - NO_ERROR),
        (false, true) => share = together(share, NO_ERROR),
        _ => {}
    }
    match (skips_breakpoint(function, there), skips_breakpoint(function, behind)) {
        (true, false) => share = together(share, 1.0 - NO_BREAKPOINT),
        (false, true) => share = together(share, NO_BREAKPOINT),
        _ => {}
    }
    match (fails(function, there), fails(function, behind)) {
        (true, false) => share = together(share, 1.0 - NO_FAILURE),
        (false, true) => share = together(share, NO_FAILURE),
        _ => {}
    }
    match null_is_taken(function, idx) {
        Some((pointer, true)) if is_pointer(function, idx, behind, pointer) => {
            share = together(share, 1.0 - NOT_NULL);
        }
        Some((pointer, false)) if is_pointer(function, idx, there, pointer) => {
            share = together(share, NOT_NULL);
        }
        _ => {}
    }
    share
}

/// What begins here is a failure's: it returns an error, or calls what reports one.
pub(crate) fn is_failure(function: &Function, from: usize) -> bool {
    returns_error(function, from) || fails(function, from) || skips_breakpoint(function, from)
}

/// Two signs that know nothing of each other.
fn together(a: f64, b: f64) -> f64 {
    a * b / (a * b + (1.0 - a) * (1.0 - b))
}

/// The instructions from `from` on, as long as there is one way only.
fn straight(function: &Function, from: usize) -> impl Iterator<Item = (usize, &Instruction)> {
    let mut next = Some(from);
    let places = std::iter::from_fn(move || {
        let idx = next.filter(|idx| *idx < function.instructions.len())?;
        next = match function.instructions[idx].flow {
            Flow::Next | Flow::Call { .. } => Some(idx + 1),
            Flow::Branch { is_conditional: false, .. } => function.target(idx),
            _ => None,
        };
        Some((idx, &function.instructions[idx]))
    });
    places.take(INSTRUCTIONS_MAX)
}

/// The way from `from` on leads straight to a return of a negative number, as errors are returned.
pub(crate) fn returns_error(function: &Function, from: usize) -> bool {
    let conventions = function.isa.conventions();
    let Some(result) = conventions.results.first() else { return false };
    let mut known: BTreeMap<Reg, i64> = BTreeMap::new();
    for (_, instruction) in straight(function, from) {
        if instruction.flow == Flow::Return {
            let is_error = known.get(result).is_some_and(|value| ERRORS.contains(value));
            return is_error && !instruction.is_guarded();
        }
        let made = instruction.operation.filter(|_| !instruction.is_guarded()).and_then(|made| {
            let is_zero = |reg: Reg| conventions.zero == Some(reg);
            let is_known = |value: Value| match value {
                Value::Const(_) => true,
                Value::Reg(reg) => known.contains_key(&reg) || is_zero(reg),
                Value::Shifted(..) | Value::Extended(..) => false,
            };
            let is_all = matches!(
                made.op,
                Op::Move | Op::Not | Op::Add | Op::Sub | Op::ReverseSub | Op::SignExtend { .. }
            ) && is_known(made.a)
                && is_known(made.b);
            let value = made
                .value(|reg| known.get(&reg).copied().unwrap_or(0) as u64)
                .filter(|_| is_all && instruction.accesses.is_empty())?;
            // Of 32 bits the sign is there, whatever stands above.
            Some((
                made.result?,
                if made.width == 32 { i64::from(value as i32) } else { value as i64 },
            ))
        });
        instruction.writes.iter().for_each(|write| {
            known.remove(&write.reg);
        });
        if let Flow::Call { .. } = instruction.flow {
            conventions.scratch.iter().for_each(|reg| {
                known.remove(reg);
            });
        }
        known.extend(made);
    }
    false
}

/// The way from `from` on leads straight to a branch over a breakpoint: `bpl 1f; bkpt; 1:`. On Arm
/// what stops a program for good is another word.
fn skips_breakpoint(function: &Function, from: usize) -> bool {
    straight(function, from).any(|(idx, instruction)| {
        let is_test = matches!(instruction.flow, Flow::Branch { is_conditional: true, .. });
        let (behind, _) = behind(function, idx);
        let stop = function.instructions.get(behind).filter(|next| next.flow == Flow::Stop);
        let goes_on = function.target(idx) == Some(behind + 1);
        is_test && stop.is_some_and(|stop| goes_on || stop.text.starts_with("bkpt"))
    })
}

/// The way from `from` on leads straight to a call that reports a failure.
fn fails(function: &Function, from: usize) -> bool {
    let mut callees = straight(function, from)
        .filter_map(|(_, instruction)| function.callees.get(&instruction.address));
    callees.any(|name| {
        let words = words(&shown(name));
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&&word[..]));
        let error = words.last().and_then(|word| word.strip_suffix(FAILURE));
        has(&FAILURES) || error.is_some_and(|kind| !ASKS.contains(&kind)) && !has(&ASKS)
    })
}

/// The words of a name, `some_name` or `SomeName`, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && was_lower {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    words
}

/// The register that the branch at `idx` compares with zero, and whether it is taken if it is.
fn null_is_taken(function: &Function, idx: usize) -> Option<(Reg, bool)> {
    let conventions = function.isa.conventions();
    let branch = &function.instructions[idx];
    let name = branch.text.split_whitespace().next()?.trim_end_matches(".n").trim_end_matches(".w");
    let is_equal = match name {
        "cbz" | "beqz" | "c.beqz" | "beq" | "b.eq" | "be" | "je" | "jz" => true,
        "cbnz" | "bnez" | "c.bnez" | "bne" | "b.ne" | "jne" | "jnz" => false,
        _ => return None,
    };
    let reads: Vec<Reg> = branch.reads.iter().map(|read| read.reg).collect();
    let flag = reads.iter().find(|reg| conventions.flags.contains(reg));
    let Some(flag) = flag else {
        let mut others = reads.into_iter().filter(|reg| Some(*reg) != conventions.zero);
        let reg = others.next()?;
        return others.next().is_none().then_some((reg, is_equal));
    };
    let compare = writer(function, idx, *flag)?;
    let operation = function.instructions[compare].operation?;
    // ARMv6-M has a zero in a register, where it is wanted besides.
    let is_zero = |reg: Reg| {
        let made =
            writer(function, compare, reg).and_then(|at| function.instructions[at].operation);
        made.is_some_and(|made| (made.op, made.a) == (Op::Move, Value::Const(0)))
    };
    match (operation.op, operation.a, operation.b) {
        (Op::Compare, Value::Reg(reg), Value::Const(0)) => Some((reg, is_equal)),
        (Op::Compare, Value::Reg(reg), Value::Reg(zero)) if is_zero(zero) => Some((reg, is_equal)),
        (Op::Test, Value::Reg(a), Value::Reg(b)) if a == b => Some((a, is_equal)),
        // A copy that sets the flags.
        (Op::Move, Value::Reg(_), _) | (Op::Sub | Op::Add, Value::Reg(_), Value::Const(0)) => {
            Some((operation.result?, is_equal))
        }
        _ => None,
    }
}

/// The last instruction that writes a register before place `idx`.
fn writer(function: &Function, idx: usize, reg: Reg) -> Option<usize> {
    let writes =
        |at: &usize| function.instructions[*at].writes.iter().any(|write| write.reg == reg);
    (0..idx).rev().take(INSTRUCTIONS_MAX).find(writes)
}
