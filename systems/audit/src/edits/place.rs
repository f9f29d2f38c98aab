//! What a way of editing gets and gives: a finding with its source, and a changed source to try.

use super::source;
use crate::audit::Audit;
use crate::finding::{Finding, Way};

/// Stands in a changed source for the type of its constant of this number.
pub fn placeholder(idx: usize) -> String {
    format!("meanwhile_type{idx}_")
}

/// One change of the source that may remove a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// Which finding, as a place in the audit's list.
    pub finding: usize,
    pub way: Way,
    /// The whole changed source.
    pub source: String,
    /// The expressions for whose types a [`placeholder`] stands.
    pub typed: Vec<String>,
    /// The change in words.
    pub text: String,
    /// What has to be true for it, which no source shows.
    pub promise: Option<String>,
    /// That is also that an address is good where it was not read before.
    pub reads_more: bool,
    /// It is tried although another one of its finding gained, and taken if it gains more.
    pub competes: bool,
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
            typed: Vec::new(),
            text,
            promise: None,
            reads_more: false,
            competes: false,
        }
    }

    /// The change that puts each expression into a local variable before line `before`, and reads
    /// that on these lines, if they are of one function; none of them is a part of another one.
    pub fn locals(&self, expressions: &[&str], before: usize, readers: &[usize]) -> Option<Trial> {
        // Another function knows nothing of the variable.
        let own = source::enclosing(self.lines, before)?;
        if !readers.iter().all(|reader| own.contains(reader)) {
            return None;
        }
        let last = readers.iter().copied().max().unwrap_or(before).max(before);
        let is_plain = |reader: &usize| {
            let line = self.lines[*reader];
            !expressions.iter().any(|expression| line.contains(expression))
                || !source::has_several(line)
        };
        if source::is_jumped_to(self.lines, before..last + 1) || !readers.iter().all(is_plain) {
            return None;
        }
        let indent: String =
            self.lines[before].chars().take_while(|letter| letter.is_whitespace()).collect();
        let mut changed: Vec<String> = self.lines.iter().map(|&line| line.to_owned()).collect();
        let mut declared: Vec<String> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for (idx, expression) in expressions.iter().enumerate() {
            let name = source::local_name(self.lines, before, expression);
            if names.contains(&name) {
                return None;
            }
            for &reader in readers {
                changed[reader] = source::read_from(&changed[reader], expression, &name);
            }
            declared.push(format!("{indent}{} {name} = {expression};", placeholder(idx)));
            names.push(name);
        }
        changed.splice(before..before, declared);
        let quoted: Vec<String> =
            expressions.iter().map(|expression| format!("`{expression}`")).collect();
        let variables = if quoted.len() == 1 { "a local variable" } else { "local variables" };
        let read = source::listed(&quoted, "and");
        let text = format!("read {read} into {variables} before line {}", before + 1);
        Some(Trial {
            typed: expressions.iter().map(|&expression| expression.to_owned()).collect(),
            ..self.change(Way::LocalCopy, changed.join("\n") + "\n", text)
        })
    }
}
