//! Asks every instruction of a fast path why it is there, whether it is needed, whether it
//! stalls, whether it could be faster, and what prevents the compiler from making it so.

pub mod code;
pub mod frame;
pub mod function;
pub mod isa;
pub mod lines;
pub mod program;
mod relocate;
pub mod spills;
pub mod toolchain;
