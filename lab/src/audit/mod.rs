//! Studies of audit.

pub mod bench;
mod report;

pub use report::report;

/// The committed results of a study as its own tables; `None` for those of others.
pub fn committed(
    experiment: &str,
    file: &str,
    evidence: &crate::evidence::Evidence,
) -> Option<Vec<::report::page::Block>> {
    ((experiment, file) == ("audit-speed", "bench")).then(|| bench::committed(evidence))
}
