//! Asks every instruction of a fast path why it is there, whether it is needed, whether it
//! stalls, whether it could be faster, and what prevents the compiler from making it so.

pub mod audit;
pub mod beyond;
pub mod bits;
pub mod bound;
pub mod budget;
pub mod code;
pub mod depend;
pub mod edit;
mod explain;
pub mod finding;
pub mod frame;
pub mod function;
pub mod html;
pub mod isa;
pub mod json;
pub mod licence;
pub mod lines;
pub mod lint;
pub mod liveness;
pub mod needed;
pub mod pipe;
pub mod pipeline;
pub mod pressure;
pub mod program;
mod relocate;
pub mod search;
pub mod spills;
pub mod stalls;
pub mod text;
pub mod toolchain;
pub mod trace;
