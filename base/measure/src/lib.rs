//! Repetition, paired interleaved runs, medians, intervals and noise warnings; and the doors that
//! every system needs: clock, machine, tools, files, scratch folders, what is kept, interrupts.
//! Where there is no operating system, as in a browser, they are there too, and refuse.

pub mod cache;
pub mod clock;
#[cfg(unix)]
pub mod file;
#[cfg(unix)]
pub mod interrupt;
pub mod machine;
pub mod noise;
pub mod pairs;
pub mod quiet;
pub mod scratch;
pub mod stats;
#[cfg(not(unix))]
#[path = "no_system.rs"]
mod system;
#[cfg(unix)]
mod system;
pub mod tool;

pub use clock::Clock;
pub use noise::Warning;
pub use pairs::{Paired, Plan, Summary, run_pairs};
#[cfg(not(unix))]
use system::interrupt;
pub use tool::{Ran, ToolError};
