//! Edits of C that can be tried: one way a file, each says where it applies and what it changes.
//!
//! ```text
//!                                     const uint32_t cap = c->cap;
//! if ((ep->state & 3) == 1)           if ((ep->state & 3) == 1)
//!     return slow();          --->        return slow();
//! if (c->cap == 0)                    if (cap == 0)
//! ```
//!
//! A change is no edit yet: it has to gain in the model and to do what the source did. What a source cannot show, such
//! as that two pointers never lead to one object, is a promise that the edit asks for.

mod cold;
mod earlier;
mod inline;
mod likely;
mod local_copy;
mod place;
mod restrict;
mod source;
mod wider;

use similar::TextDiff;

use crate::audit::Audit;
use crate::finding::Way;
use place::Place;
pub use place::{Trial, placeholder};

/// The change from `source` as a patch of `file`.
pub fn patch(source: &str, changed: &str, file: &str) -> String {
    // What lies outside this folder is named from its own.
    let is_inside = !file.starts_with('/') && !file.split('/').any(|part| part == "..");
    let file = if is_inside { file } else { file.rsplit('/').next().unwrap_or(file) };
    // As git has it: a name with a space ends where a tab stands.
    let tab = if file.contains(' ') { "\t" } else { "" };
    let diff = TextDiff::from_lines(source, changed);
    diff.unified_diff().header(&format!("a/{file}{tab}"), &format!("b/{file}{tab}")).to_string()
}

/// All changes worth trying, by finding; `file` is as line tables name it.
pub fn changes(audit: &Audit, source: &str, file: &str) -> Vec<Trial> {
    // The path is not that of the running kernel: what makes it shorter proves nothing.
    if audit.function.tables.patched().is_some() {
        return Vec::new();
    }
    let lines: Vec<&str> = source.lines().collect();
    let mut changes: Vec<Trial> = Vec::new();
    for (finding, found) in audit.findings.iter().enumerate() {
        let place = Place { audit, lines: &lines, file, finding };
        for way in &found.ways {
            let new = match way {
                Way::Earlier => earlier::changes(&place),
                Way::LocalCopy => local_copy::changes(&place),
                Way::Restrict => restrict::changes(&place),
                Way::Likely => likely::changes(&place),
                Way::Wider => wider::changes(&place),
                Way::Cold => cold::changes(&place),
                Way::Inline => inline::changes(&place),
            };
            changes.extend(new);
        }
    }
    if !audit.findings.is_empty() {
        let place = Place { audit, lines: &lines, file, finding: 0 };
        changes.extend(local_copy::of_loops(&place));
        changes.extend(wider::of_indices(&place));
    }
    for change in &mut changes {
        change.source = with_ends_of(source, &change.source);
    }
    // What several findings ask for is tried once, for the first of them.
    let mut seen = std::collections::BTreeSet::new();
    changes.retain(|change| seen.insert(change.source.clone()));
    changes
}

/// A text, each of whose lines ends with `\n`, with the line ends that `source` has: a patch is to
/// change no line for them.
fn with_ends_of(source: &str, text: &str) -> String {
    let n_dos = source.matches("\r\n").count();
    let is_dos = 2 * n_dos > source.matches('\n').count();
    let text = if is_dos { text.replace('\n', "\r\n") } else { text.to_owned() };
    match text.strip_suffix('\n') {
        Some(open) if !source.ends_with('\n') => open.strip_suffix('\r').unwrap_or(open).to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::with_ends_of;

    #[test]
    fn a_changed_text_has_the_line_ends_of_its_source() {
        for (source, text) in [
            ("a\nb\n", "a\nc\n"),
            ("a\nb", "a\nc"),
            ("a\r\nb\r\n", "a\r\nc\r\n"),
            ("a\r\nb", "a\r\nc"),
        ] {
            assert_eq!(with_ends_of(source, "a\nc\n"), text, "{source:?}");
        }
    }
}
