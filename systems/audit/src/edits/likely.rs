//! A test that says which way is the usual one.
//!
//! ```text
//! if (p->error)  --->  if (__builtin_expect(!!(p->error), 0))
//! ```

use super::place::{Place, Trial};
use super::source::{condition, with_line};
use crate::decode::code::Flow;
use crate::finding::Way;

pub(super) fn changes(place: &Place<'_>) -> Vec<Trial> {
    let idx = place.found().idx;
    let function = &place.audit.function;
    let is_test = |idx: &usize| {
        matches!(function.instructions[*idx].flow, Flow::Branch { is_conditional: true, .. })
    };
    // A jump goes over what the tests before it decide.
    let tests = place.audit.trace.places.iter().copied().filter(is_test);
    let mut lines: Vec<usize> = match is_test(&idx) {
        true => place.line_of(idx).into_iter().collect(),
        false => tests.filter(|test| *test < idx).filter_map(|test| place.line_of(test)).collect(),
    };
    lines.dedup();
    let has_macro = place.lines.iter().any(|line| line.contains("unlikely("));
    let mut changes = Vec::new();
    for line in lines.into_iter().rev().take(2) {
        let text = place.lines[line];
        let Some((from, to)) = condition(text) else { continue };
        let (before, inside, after) = (&text[..from], &text[from..to], &text[to..]);
        if inside.contains("likely(") || inside.contains("__builtin_expect") {
            continue;
        }
        for (way, name) in [("0", "unlikely"), ("1", "likely")] {
            let said = match has_macro {
                true => format!("{name}({inside})"),
                false => format!("__builtin_expect(!!({inside}), {way})"),
            };
            let source = with_line(place.lines, line, format!("{before}{said}{after}"));
            let words = format!("line {}: call `{inside}` {name}", line + 1);
            let promise = format!("it is {name} when the program runs");
            let change = place.change(Way::Likely, source, words);
            changes.push(Trial { promise: Some(promise), ..change });
        }
    }
    changes
}
