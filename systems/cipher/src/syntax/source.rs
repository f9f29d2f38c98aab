//! The files of a program, and places in them as diagnostics show them.

use std::sync::Arc;

use report::{Diagnostic, SourceFile, Span};

/// A byte range of one of the files of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// Which file, an index into [`Sources`].
    pub file: u32,
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Loc {
    /// The smallest range that covers both.
    pub fn to(self, other: Loc) -> Loc {
        Loc { file: self.file, start: self.start, end: other.end.max(self.end) }
    }
}

/// The files of a program, in the order in which they were opened.
#[derive(Debug, Default, Clone)]
pub struct Sources {
    pub(super) files: Vec<Arc<SourceFile>>,
}

impl Sources {
    /// The place as a span of diagnostics.
    pub fn span(&self, loc: Loc) -> Span {
        let file = self.files[loc.file as usize].clone();
        let end = (loc.end as usize).min(file.text.len());
        Span { range: (loc.start as usize).min(end)..end, file }
    }

    /// The text at a place.
    pub fn text(&self, loc: Loc) -> &str {
        &self.files[loc.file as usize].text[loc.start as usize..loc.end as usize]
    }

    /// A message about one place.
    pub fn error(
        &self,
        loc: Loc,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            message: message.into(),
            spans: vec![(self.span(loc), label.into())],
            help: None,
        }
    }

    /// File name and 1-based line of a place, for `#line`.
    pub fn line(&self, loc: Loc) -> (&str, usize) {
        let file = &self.files[loc.file as usize];
        let upto = (loc.start as usize).min(file.text.len());
        (&file.name, 1 + file.text.as_bytes()[..upto].iter().filter(|b| **b == b'\n').count())
    }

    pub(super) fn add(&mut self, name: String, text: String) -> u32 {
        self.files.push(Arc::new(SourceFile { name, text }));
        (self.files.len() - 1) as u32
    }
}
