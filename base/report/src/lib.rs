//! Spans and diagnostics, tables, charts, JSON evidence and the HTML page: builds text, prints nothing.

pub mod diagnostic;
mod snippet;

pub use diagnostic::{Diagnostic, SourceFile, Span, did_you_mean};
