//! Spans and diagnostics, tables, charts, JSON evidence and the HTML page: builds text, prints
//! nothing.

pub mod diagnostic;
pub mod escape;
pub mod kind;
pub mod number;
pub mod page;
mod snippet;
pub mod suggest;
pub mod svg;
pub mod table;
pub mod view;

pub use diagnostic::{Diagnostic, SourceFile, Span};
pub use kind::Kind;
pub use suggest::did_you_mean;
pub use table::{Cell, Table, Tone};
