//! Real programs under a policy: started or attached, frozen and thawed every quantum, kept to the
//! processors they are given.

pub mod canary;
pub mod capacity;
pub mod daemon;
pub mod endpoint;
pub mod estimate;
pub mod freezer;
pub mod group;
pub mod heartbeat;
pub mod host;
pub mod journal;
pub mod keepers;
pub mod kernels;
pub mod memory;
pub mod metrics;
pub mod perf;
pub mod private;
mod probes;
pub mod process;
pub mod program;
pub mod resctrl;
pub mod rest;
mod roster;
pub mod run;
pub mod signals;
pub mod slurm;
pub mod source;
pub mod startup;
pub mod supervisor;
mod switcher;
pub mod team;
pub mod topology;
pub mod turns;
pub mod up_again;
pub mod users;
