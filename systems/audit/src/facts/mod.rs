//! What holds on all paths of a function, or on its hot one, whatever the core: one analysis a
//! file.

pub mod bits;
pub mod cases;
pub mod conventions;
pub mod frame;
pub mod hazards;
pub mod kept_for_caller;
pub mod landings;
pub mod liveness;
pub mod loops;
pub mod meaning;
pub mod nests;
pub mod pinned;
pub mod pointers;
pub mod predicted;
pub mod recorded;
pub mod spills;
pub mod stack_switch;
pub mod steered;
pub mod trace;
