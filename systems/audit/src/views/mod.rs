//! An audit as people and programs read it.

pub mod html;
pub mod json;
mod limits;
mod loops;
pub mod text;
