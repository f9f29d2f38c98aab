//! A callee made part of its callers, if this file defines it.
//!
//! ```text
//! static int twice(int x)  --->  static inline __attribute__((always_inline)) int twice(int x)
//! ```

use super::place::{Place, Trial};
use super::source::{definition, with_line};
use crate::finding::Way;

pub(super) fn changes(place: &Place<'_>) -> Vec<Trial> {
    let function = &place.audit.function;
    let address = function.instructions[place.found().idx].address;
    let Some(callee) = function.callees.get(&address) else { return Vec::new() };
    let Some(line) = definition(place.lines, callee).map(|range| range.start) else {
        return Vec::new();
    };
    let text = place.lines[line];
    let is_split = text.starts_with(&format!("{callee}("));
    if is_split || text.contains("inline") {
        return Vec::new();
    }
    let changed = match text.strip_prefix("static ") {
        Some(rest) => format!("static inline __attribute__((always_inline)) {rest}"),
        // Other files still find it.
        None => match text.split(['{']).next().map(str::trim_end) {
            Some(head) if head.ends_with(')') => {
                format!("extern {head};\ninline __attribute__((always_inline)) {text}")
            }
            _ => return Vec::new(),
        },
    };
    let words = format!("line {}: make `{callee}` part of its callers", line + 1);
    vec![place.change(Way::Inline, with_line(place.lines, line, changed), words)]
}
