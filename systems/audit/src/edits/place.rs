//! What a way of editing gets and gives: a finding with its source, and a changed source to try.

use super::source;
use crate::audit::Audit;
use crate::finding::{Finding, Way};

/// Stands in a changed source for the type of a constant, which the compiler knows.
pub const TYPE: &str = "meanwhile_type";

/// One change of the source that may remove a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
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

/// A finding, and the source that it is about.
pub struct Place<'a> {
    pub audit: &'a Audit,
    pub lines: &'a [&'a str],
    /// As line tables name it.
    pub file: &'a str,
    pub finding: usize,
}

impl Place<'_> {
    pub fn found(&self) -> &Finding {
        &self.audit.findings[self.finding]
    }

    /// The line of this file, from 0, that an instruction comes from; an inlined function's own.
    pub fn line_of(&self, idx: usize) -> Option<usize> {
        let frame =
            self.audit.function.frames[idx].first().filter(|frame| frame.file == self.file)?;
        (frame.line as usize).checked_sub(1).filter(|line| *line < self.lines.len())
    }

    pub fn change(&self, way: Way, source: String, text: String) -> Trial {
        Trial {
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
    /// on these lines, if they are of one function.
    pub fn local(&self, expression: &str, before: usize, readers: &[usize]) -> Option<Trial> {
        // Another function knows nothing of the variable.
        let own = source::enclosing(self.lines, before)?;
        if !readers.iter().all(|reader| own.contains(reader)) {
            return None;
        }
        let last = readers.iter().copied().max().unwrap_or(before).max(before);
        let is_plain = |reader: &usize| {
            let line = self.lines[*reader];
            !line.contains(expression) || !source::has_several(line)
        };
        if source::is_jumped_to(self.lines, before..last + 1) || !readers.iter().all(is_plain) {
            return None;
        }
        let name = source::local_name(self.lines, before, expression);
        let indent: String =
            self.lines[before].chars().take_while(|letter| letter.is_whitespace()).collect();
        let mut changed: Vec<String> = self.lines.iter().map(|&line| line.to_owned()).collect();
        for &reader in readers {
            changed[reader] = source::read_from(self.lines[reader], expression, &name);
        }
        changed.insert(before, format!("{indent}{TYPE} {name} = {expression};"));
        let text = format!("read `{expression}` into a local variable before line {}", before + 1);
        Some(Trial {
            typed: Some(expression.to_owned()),
            ..self.change(Way::LocalCopy, changed.join("\n") + "\n", text)
        })
    }
}
