//! A function that only cold ways and those that return errors call, kept out of line and called cold,
//! so that what it needs is saved there.
//!
//! ```text
//! static int fail(int why)  --->  __attribute__((cold, noinline)) static int fail(int why)
//! ```

use super::place::{Place, Trial};
use std::collections::BTreeMap;

use super::source::with_line;
use crate::facts::predicted::returns_error;
use crate::finding::Way;

pub(super) fn changes(place: &Place<'_>) -> Vec<Trial> {
    let function = &place.audit.function;
    let mut is_hot = vec![false; function.instructions.len()];
    place.audit.trace.places.iter().for_each(|idx| is_hot[*idx] = true);
    let is_seldom = |idx: usize| place.audit.is_cold[idx] || returns_error(function, idx);
    // Called or made part of the function there, and nowhere on the path.
    let mut callees: BTreeMap<&str, (bool, bool)> = BTreeMap::new();
    for (idx, instruction) in function.instructions.iter().enumerate() {
        let called = function.callees.get(&instruction.address).map(String::as_str);
        let inlined = function.frames[idx].iter().map(|frame| frame.function.as_str());
        for callee in called.into_iter().chain(inlined) {
            let (is_on_path, seldom) = callees.entry(callee).or_default();
            *is_on_path |= is_hot[idx];
            *seldom |= is_seldom(idx);
        }
    }
    let is_meant = |(name, (is_on_path, seldom)): &(&str, (bool, bool))| {
        *seldom && !is_on_path && !name.is_empty() && *name != function.name
    };
    let mut changes = Vec::new();
    for (callee, _) in callees.into_iter().filter(is_meant) {
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
