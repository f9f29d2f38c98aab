//! x
pub mod form;
