//! What is loaded repeatedly, in a local variable: on two lines of the path, or in a loop.
//!
//! ```text
//!                                    const size_t n = s->n;
//! for (i = 0; i < s->n; i++)  --->   for (i = 0; i < n; i++)
//!     d[i] = 0;                          d[i] = 0;
//! ```

use std::collections::BTreeSet;
use std::ops::Range;

use super::place::{Place, Trial};
use super::source::{
    asks_for_null, code_of, is_kept, is_passed, listed, loads, loop_lines, read_from, replaces,
    starts_statement, unchanged, words, writes,
};

/// Loads of two lines, or of a loop, that are tried.
const LOADS_MAX: usize = 4;

/// What an earlier line of the path loaded, in a variable that both lines read.
pub(super) fn changes(place: &Place<'_>) -> Vec<Trial> {
    let lines = place.lines;
    let mut changes: Vec<Trial> = Vec::new();
    let Some(timed) = &place.audit.timed else { return changes };
    let idx = place.found().idx;
    let Some(second) = place.line_of(idx) else { return changes };
    let before = timed
        .trace
        .places
        .iter()
        .take_while(|at| **at != idx)
        .filter_map(|at| place.line_of(*at))
        .filter(|before| *before < second && starts_statement(lines, *before));
    let before: BTreeSet<usize> = before.collect();
    let mut seen: Vec<String> = Vec::new();
    for first in before {
        for expression in loads(&code_of(lines[first])) {
            let is_good = loads(&code_of(lines[second])).contains(&expression)
                && !is_passed(lines, first..second, &expression)
                && is_kept(lines, first, second, &expression)
                && !asks_for_null(lines, first, first, &expression);
            if !is_good || seen.contains(&expression) || seen.len() == LOADS_MAX {
                continue;
            }
            let Some(change) = place.locals(&[&expression], first, &[first, second]) else {
                continue;
            };
            let promise = unchanged(lines, first..second + 1, &[&expression]);
            changes.push(Trial { promise, ..change });
            seen.push(expression);
        }
    }
    changes
}

/// What a loop loads in every iteration and does not write, read before it: each alone, and then
/// all of them at once.
pub(super) fn of_loops(place: &Place<'_>) -> Vec<Trial> {
    let lines = place.lines;
    let n = place.audit.function.instructions.len();
    let lines_of_code: BTreeSet<usize> = (0..n).filter_map(|idx| place.line_of(idx)).collect();
    let mut changes = Vec::new();
    for first in (0..lines.len()).filter(|line| starts_statement(lines, *line)) {
        let Some(range) = loop_lines(lines, first) else { continue };
        if !range.clone().any(|line| lines_of_code.contains(&line)) {
            continue;
        }
        let is_in = |idx: usize| place.line_of(idx).is_some_and(|line| range.contains(&line));
        let finding = place.audit.findings.iter().position(|found| is_in(found.idx)).unwrap_or(0);
        let own = Place { finding, ..*place };
        let mut all = repeated(lines, &range);
        all.truncate(LOADS_MAX);
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let is_in = |whole: &str, part: &str| read_from(whole, part, "") != whole && whole != part;
        let apart = all.iter().copied().filter(|part| !all.iter().any(|whole| is_in(whole, part)));
        let apart: Vec<&str> = apart.collect();
        let at_once = (apart.len() > 1).then_some(apart);
        for expressions in all.iter().map(|expression| vec![*expression]).chain(at_once) {
            let readers: Vec<usize> = range.clone().collect();
            let Some(change) = own.locals(&expressions, first, &readers) else { continue };
            let same = unchanged(lines, range.clone(), &expressions);
            let late: Vec<String> = expressions
                .iter()
                .filter(|expression| !is_always_read(lines[first], expression))
                .map(|expression| format!("`{expression}`"))
                .collect();
            let reached = (!late.is_empty()).then(|| {
                let (all, are) =
                    if late.len() == 1 { ("address", "is") } else { ("addresses", "are") };
                let of = listed(&late, "and");
                format!("the {all} of {of} {are} good also where the loop is not entered")
            });
            let reads_more = reached.is_some();
            let promises: Vec<String> = [same, reached].into_iter().flatten().collect();
            let promise = (!promises.is_empty()).then(|| promises.join(", and "));
            changes.push(Trial { promise, reads_more, competes: true, ..change });
        }
    }
    changes
}

/// What these lines load by names that none of them writes or declares.
fn repeated(lines: &[&str], range: &Range<usize>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in &lines[range.clone()] {
        for expression in loads(&code_of(line)) {
            // An element that is stored leaves the pointer to it as it is.
            let pointer = words(&expression).last().filter(|_| !expression.ends_with(']'));
            let is_written = words(&expression).any(|name| {
                let written = if Some(name) == pointer { replaces } else { writes };
                lines[range.clone()].iter().any(|line| written(line, name))
            });
            // A part of something else that is read is not read by itself.
            let null = asks_for_null(lines, range.start, range.end - 1, &expression);
            let is_passed = is_passed(lines, range.clone(), &expression);
            if !is_written && !is_passed && !null && !found.contains(&expression) {
                found.push(expression);
            }
        }
    }
    found
}

/// The head of the loop reads it before anything else decides.
fn is_always_read(head: &str, expression: &str) -> bool {
    head.find(expression).is_some_and(|at| {
        !["&&", "||", "?"].iter().any(|word| head[..at].contains(word))
            && head.matches(';').count() != 1
            && head[..at].matches(';').count() < 2
    })
}
