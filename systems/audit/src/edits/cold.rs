//! A function that only other paths call, kept out of line and called cold, so that what it needs is
//! saved there.
//!
//! ```text
//! static int fail(int why)  --->  __attribute__((cold, noinline)) static int fail(int why)
//! ```

use super::place::{Place, Trial};
use super::source::with_line;
use crate::finding::Way;

pub(super) fn changes(place: &Place<'_>) -> Vec<Trial> {
    let function = &place.audit.function;
    let is_hot = |address: &u64| {
        let mut places = place.audit.trace.places.iter();
        places.any(|idx| function.instructions[*idx].address == *address)
    };
    // Called there, or made part of it there.
    let called =
        function.callees.iter().filter(|callee| !is_hot(callee.0)).map(|callee| callee.1.as_str());
    let hot_lines: Vec<&str> = place
        .audit
        .trace
        .places
        .iter()
        .flat_map(|idx| &function.frames[*idx])
        .map(|frame| frame.function.as_str())
        .collect();
    let inlined = function.frames.iter().flatten().map(|frame| frame.function.as_str());
    let mut callees: Vec<&str> = called
        .chain(inlined.filter(|name| !hot_lines.contains(name)))
        .filter(|name| !name.is_empty() && *name != function.name)
        .collect();
    callees.sort_unstable();
    callees.dedup();
    let mut changes = Vec::new();
    for callee in callees {
        let name = format!("{callee}(");
        let is_declared = |text: &&str| {
            text.contains(&name)
                && !text.starts_with([' ', '\t', '#', '}', '/', '*'])
                && !text.contains("__attribute__")
                && !text.contains("inline")
        };
        let Some(line) = place.lines.iter().position(is_declared) else { continue };
        // The type stands on a line of its own above.
        let is_split = place.lines[line].starts_with(&name);
        let at = if is_split { line.saturating_sub(1) } else { line };
        let changed = format!("__attribute__((cold, noinline)) {}", place.lines[at]);
        let text = format!("line {}: call `{callee}` cold, and keep it out of line", at + 1);
        let change = place.change(Way::Cold, with_line(place.lines, at, changed), text);
        let promise = format!("`{callee}` seldom runs");
        changes.push(Trial { promise: Some(promise), ..change });
    }
    changes
}
