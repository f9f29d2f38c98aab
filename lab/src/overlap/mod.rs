//! Studies of overlap.

pub mod bench;
mod compile_cost;
pub mod compile_time;
mod figures;
mod made;
mod pairs;
pub mod windows;

pub use figures::report;

/// The committed results of a study as its own tables; `None` for those of others.
pub fn committed(
    experiment: &str,
    file: &str,
    evidence: &crate::evidence::Evidence,
) -> Option<Vec<::report::page::Block>> {
    match (experiment, file) {
        ("overlap", "bench") => bench::committed(evidence),
        ("overlap", "compile-time" | "compile-time-codes") => {
            Some(compile_time::committed(evidence))
        }
        ("overlap", "windows") => Some(windows::committed(evidence)),
        _ => None,
    }
}
