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
pub use place::{TYPE, Trial};

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
    // What several findings ask for is tried once, for the first of them.
    let mut seen = std::collections::BTreeSet::new();
    changes.retain(|change| seen.insert(change.source.clone()));
    changes
}
