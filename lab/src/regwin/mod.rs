//! Studies of regwin.

pub mod behaviour;
pub mod bench;
mod figures;
mod quantities;
pub mod record;
pub mod rtos;
mod rtos_measures;
pub mod run;
pub mod speed;
pub mod sweep;
pub mod variants;

pub use figures::report;

/// The committed results of a study as its own tables; `None` for those of others.
pub fn committed(
    experiment: &str,
    file: &str,
    evidence: &crate::evidence::Evidence,
) -> Option<Vec<::report::page::Block>> {
    match (experiment, file) {
        ("regwin-adaptive", "adaptive") => Some(bench::committed(evidence)),
        ("regwin-variants", "variants") => Some(variants::committed(evidence)),
        ("regwin-rtos", "rtos") => Some(rtos::committed(evidence)),
        ("regwin-speed", "speed") => Some(speed::committed(evidence)),
        _ => None,
    }
}
