//! A load that a stall waits for, or that the best order moves to fill it, read before one of the
//! tests above.
//!
//! ```text
//!                             const int cap = c->cap;
//! if (ep->state == 1)         if (ep->state == 1)
//!     return slow();    --->      return slow();
//! if (c->cap == 0)            if (cap == 0)
//! ```

use super::place::{Place, Trial};
use super::source::{
    asks_for_null, code_of, expressions, is_kept, is_passed, starts_statement, unchanged,
};
use crate::decode::code::Flow;
use crate::facts::trace::Exit;
use crate::finding::Way;
use crate::timing::licence::crossings;

/// Loads of a stall that are tried.
const LOADS_MAX: usize = 3;
/// Tests that a load is moved above, one after the other.
const EXITS_MAX: usize = 3;

pub(super) fn changes(place: &Place<'_>) -> Vec<Trial> {
    let (audit, lines) = (place.audit, place.lines);
    let mut changes = Vec::new();
    let Some(timed) = &audit.timed else { return changes };
    let is_own = |number: &usize| *number == place.found().idx;
    let Some(at) = timed.trace.places.iter().position(is_own) else { return changes };
    let is_load = |at: &usize| {
        let instruction = &audit.function.instructions[timed.trace.places[*at]];
        instruction.accesses.iter().any(|access| !access.is_store)
    };
    let moved =
        timed.reached.last().map_or(Vec::new(), |last| crossings(&last.found.order, &timed.trace));
    let near = moved
        .iter()
        .filter(|(_, exit)| (*exit as usize) < at)
        .map(|(mover, _)| *mover as usize)
        .filter(|mover| *mover >= at);
    let producers = timed.causes[at].iter().map(|cause| cause.producer as usize);
    let mut seen: Vec<(usize, usize)> = Vec::new();
    for mover in producers.chain(near).filter(is_load).take(LOADS_MAX) {
        let Some(line) = place.line_of(timed.trace.places[mover]) else { continue };
        for test in tests(place, mover).into_iter().take(EXITS_MAX) {
            if test > line || seen.contains(&(line, test)) {
                continue;
            }
            seen.push((line, test));
            let is_good = |text: &String| {
                is_kept(lines, test, line + 1, text)
                    && !asks_for_null(lines, test, line, text)
                    && !is_passed(lines, test..line, text)
            };
            for expression in expressions(&code_of(lines[line])).into_iter().filter(is_good) {
                let Some(change) = place.locals(&[&expression], test, &[line]) else { continue };
                let same = unchanged(lines, test..line + 1, &[&expression]);
                let reads_more = !is_followed(lines[test], &expression);
                let address = reads_more.then(|| {
                    format!(
                        "the address of `{expression}` is good wherever line {} is reached",
                        test + 1
                    )
                });
                let promises: Vec<String> = address.into_iter().chain(same).collect();
                let promise = (!promises.is_empty()).then(|| promises.join(", and "));
                changes.push(Trial { way: Way::Earlier, promise, reads_more, ..change });
            }
        }
    }
    changes
}

/// The test follows the pointer that the expression does, before anything else decides.
fn is_followed(test: &str, expression: &str) -> bool {
    let Some((base, _)) = expression.rsplit_once("->") else { return false };
    test.find(&format!("{base}->")).is_some_and(|at| {
        let (before, rest) = (&test[..at], &expression[base.len() + 2..]);
        !["&&", "||", "?"].iter().any(|word| before.contains(word))
            && !before.ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')
            && !before.ends_with(['>', '.'])
            && !rest.contains('[')
    })
}

/// The lines of the tests above an instruction of the path, the nearest first. In an inlined
/// function, its own line or that of any call around it.
fn tests(place: &Place<'_>, mover: usize) -> Vec<usize> {
    let (function, trace) = (&place.audit.function, &place.audit.trace);
    let is_test = |exit: &&Exit| {
        exit.at < mover && function.instructions[trace.places[exit.at]].flow != Flow::Next
    };
    let mut tests: Vec<usize> = Vec::new();
    for exit in trace.exits.iter().rev().filter(is_test) {
        let frames = function.frames[trace.places[exit.at]].iter();
        for test in frames
            .filter(|frame| frame.file == place.file)
            .filter_map(|frame| (frame.line as usize).checked_sub(1))
            .filter(|line| starts_statement(place.lines, *line))
        {
            if !tests.contains(&test) {
                tests.push(test);
            }
        }
    }
    tests
}
