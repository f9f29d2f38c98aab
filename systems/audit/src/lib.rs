//! Asks every instruction of a fast path why it is there, whether it is needed, whether it
//! stalls, whether it could be faster, and what prevents the compiler from making it so.

pub mod audit;
pub mod behaviour;
pub mod beliefs;
pub mod budget;
pub mod calibrate;
pub mod code_file;
pub mod cpus;
pub mod decode;
pub mod edits;
pub mod facts;
pub mod finding;
pub mod limits;
pub mod needed;
pub mod order;
pub mod program;
pub mod proof;
pub mod ranking;
pub mod timing;
pub mod views;
pub mod volatile;
