//! Repetition, paired interleaved runs, medians, intervals and noise warnings; and the doors that
//! every system needs: clock, machine, tools, files, scratch folders, what is kept, interrupts.

pub mod cache;
pub mod clock;
pub mod file;
pub mod interrupt;
pub mod machine;
pub mod noise;
pub mod pairs;
pub mod quiet;
pub mod scratch;
pub mod stats;
pub mod tool;

pub use clock::Clock;
pub use noise::Warning;
pub use pairs::{Paired, Plan, Summary, run_pairs};
pub use tool::{Ran, ToolError};
