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
mod restrict;
mod source;
mod wider;

use similar::TextDiff;

use crate::audit::Audit;
use crate::finding::{Finding, Way};

/// Stands in a changed source for the type of a constant that holds an expression; the compiler knows
/// it.
pub const TYPE: &str = "meanwhile_type";

/// One change of the source that may remove a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which finding, as a place in the audit's list.
    pub finding: usize,
    pub way: Way,
    /// The whole changed source.
    pub source: String,
    /// The expression whose type [`TYPE`] stands for.
    pub typed: Option<String>,
    /// The change in words.
    pub text: String,
    /// What has to be true for it, which no source shows.
    pub promise: Option<String>,
    /// That is also that an address is good where it was not read before.
    pub reads_more: bool,
}

/// The change from `source` as a patch of `file`.
pub fn patch(source: &str, changed: &str, file: &str) -> String {
    let file = file.trim_start_matches('/');
    let diff = TextDiff::from_lines(source, changed);
    diff.unified_diff().header(&format!("a/{file}"), &format!("b/{file}")).to_string()
}

/// A finding, and the source that it is about.
struct Place<'a> {
    audit: &'a Audit,
    lines: &'a [&'a str],
    /// As line tables name it.
    file: &'a str,
    finding: usize,
}

/// All changes worth trying, by finding; `file` is as line tables name it.
pub fn changes(audit: &Audit, source: &str, file: &str) -> Vec<Change> {
    // The path is not that of the running kernel: what makes it shorter proves nothing.
    if audit.function.tables.patched().is_some() {
        return Vec::new();
    }
    let lines: Vec<&str> = source.lines().collect();
    let mut changes: Vec<Change> = Vec::new();
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

impl Place<'_> {
    fn found(&self) -> &Finding {
        &self.audit.findings[self.finding]
    }

    /// The line of this file that an instruction comes from, from 0; in an inlined function its
    /// own line.
    fn line_of(&self, idx: usize) -> Option<usize> {
        let frame = self.audit.function.frames[idx].first().filter(|it| it.file == self.file)?;
        (frame.line as usize).checked_sub(1).filter(|line| *line < self.lines.len())
    }

    fn change(&self, way: Way, source: String, text: String) -> Change {
        Change {
            finding: self.finding,
            way,
            source,
            typed: None,
            text,
            promise: None,
            reads_more: false,
        }
    }

    /// The change that puts `expression` into a local variable before line `before`, and reads that
    /// on these lines.
    fn local(&self, expression: &str, before: usize, readers: &[usize]) -> Change {
        let name = source::local_name(self.lines, before, expression);
        let indent: String =
            self.lines[before].chars().take_while(|letter| letter.is_whitespace()).collect();
        let mut changed: Vec<String> = self.lines.iter().map(|&line| line.to_owned()).collect();
        for &reader in readers {
            changed[reader] = source::read_from(self.lines[reader], expression, &name);
        }
        changed.insert(before, format!("{indent}{TYPE} {name} = {expression};"));
        let text = format!("read `{expression}` into a local variable before line {}", before + 1);
        Change {
            typed: Some(expression.to_owned()),
            ..self.change(Way::LocalCopy, changed.join("\n") + "\n", text)
        }
    }
}
