//! Real programs under a policy: started or attached, frozen and thawed every quantum, kept to the processors they are
//! given.

pub mod canary;
pub mod capacity;
pub mod daemon;
pub mod estimate;
pub mod group;
pub mod journal;
pub mod kernels;
pub mod perf;
pub mod private;
pub mod process;
mod program;
pub mod resctrl;
pub mod rest;
pub mod run;
pub mod signals;
pub mod source;
pub mod supervisor;
pub mod team;
pub mod topology;
pub mod turns;
