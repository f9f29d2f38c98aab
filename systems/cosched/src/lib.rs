//! Threads co-scheduled by the memory bandwidth they ask for.
//!
//! ```text
//! workload file -> sim <- policies   which programs run in the next quantum
//!                   ^ contention     how fast they run beside each other
//! ```

pub mod assumptions;
pub mod contention;
pub mod machine;
pub mod manager;
pub mod policies;
pub mod sim;
pub mod timeline;
pub mod workload;
