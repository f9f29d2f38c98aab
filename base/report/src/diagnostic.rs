//! A message about a place in the user's file: what is wrong, where, why, and what to do.

use std::ops::Range;
use std::sync::Arc;

/// One text file that diagnostics point into.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path as the user wrote it.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// A byte range of one source file.
#[derive(Debug, Clone)]
pub struct Span {
    /// The file the range lies in.
    pub file: Arc<SourceFile>,
    /// Byte offsets into `file.text`.
    pub range: Range<usize>,
}

/// One message; `spans[0]`, if there is one, is the place it is about, the others explain.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// The user's words, lower case, no full stop.
    pub message: String,
    /// Places with the label shown under each.
    pub spans: Vec<(Span, String)>,
    /// What to do, only if we are sure.
    pub help: Option<String>,
}
