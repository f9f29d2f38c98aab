//! The text of a program: files and includes, tokens, the syntax tree.

pub mod ast;
mod cells;
mod lexer;
mod load;
pub mod operators;
pub mod parser;
mod source;
pub mod types;

pub use load::{load, load_text};
pub use source::{Loc, Sources};
