//! Studies of cosched.

pub mod bench;
pub mod cluster;
mod figures;
mod like_paper;
pub mod mixes;
pub mod paper;
pub mod scale;
pub mod sensitivity;
mod service;
pub mod services;
mod statements;
pub mod sweep;

use crate::study;
pub use figures::report;

/// The committed results of a study as its own tables; `None` for those of others.
pub fn committed(
    experiment: &str,
    file: &str,
    evidence: &crate::evidence::Evidence,
) -> Option<Vec<::report::page::Block>> {
    match (experiment, file) {
        ("cosched-real", "bench") => Some(bench::committed(evidence)),
        ("cosched-services", _) => Some(study::committed::<services::Services<'_>>(evidence)),
        ("cosched-mixes", _) => Some(study::committed::<mixes::Mixes<'_>>(evidence)),
        _ => None,
    }
}
