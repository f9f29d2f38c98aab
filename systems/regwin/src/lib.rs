//! Threads that share cyclic register windows: a runtime for SPARC and Xtensa, its exact counts
//! under QEMU, a simulator.

pub mod board;
pub mod code;
pub mod counts;
pub mod errata;
pub mod image;
pub mod install;
pub mod library;
pub mod names;
pub mod profile;
pub mod qemu;
pub mod scenario;
pub mod sim;
pub mod sparc;
pub mod spell;
pub mod sweep;
pub mod tally;
pub mod timeline;
pub mod wcet;
pub mod work;
pub mod xtensa;

pub use counts::Counts;
pub use names::{Allocate, Behaviour, Cc, Schedule, Scheme, Target, Variant};
