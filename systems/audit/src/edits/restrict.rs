//! Pointers that are promised to lead to different objects.
//!
//! ```text
//! void scale(int *d, const int *s)  --->  void scale(int *restrict d, const int *restrict s)
//! ```

use super::place::{Place, Trial};
use super::source::{definition, words};
use crate::finding::Way;

pub(super) fn changes(place: &Place<'_>) -> Vec<Trial> {
    let name = &place.audit.function.name;
    let Some(range) = definition(place.lines, name) else { return Vec::new() };
    let mut changed: Vec<String> = place.lines.iter().map(|&line| line.to_owned()).collect();
    let has = |word: &str| place.lines.iter().any(|line| words(line).any(|found| found == word));
    let word = if has("__restrict") { "__restrict" } else { "restrict" };
    let mut n_pointers = 0;
    for (line, changed) in changed.iter_mut().enumerate().take(range.end).skip(range.start) {
        let text = place.lines[line];
        let from = if line == range.start {
            text.find(&format!("{name}(")).map_or(0, |at| at + name.len() + 1)
        } else {
            0
        };
        let end = text[from..].find([')', '{']).map_or(text.len(), |at| from + at);
        let parameters = &text[from..end];
        if words(parameters).any(|found| found.contains("restrict")) || parameters.contains('(') {
            return Vec::new();
        }
        n_pointers += parameters.matches('*').count();
        *changed = format!(
            "{}{}{}",
            &text[..from],
            parameters.replace('*', &format!("*{word} ")),
            &text[end..]
        );
        if end < text.len() {
            break;
        }
    }
    if n_pointers < 2 {
        return Vec::new();
    }
    let text = format!("line {}: make the pointers `{word}`", range.start + 1);
    let promise = "no caller passes pointers of which one leads to what another is used for";
    let change = place.change(Way::Restrict, changed.join("\n") + "\n", text);
    vec![Trial { promise: Some(promise.to_owned()), ..change }]
}
