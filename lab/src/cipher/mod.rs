//! Studies of cipher.

pub mod back_ends;
mod back_ends_pairs;
pub mod bench;
mod best;
mod byte_cost;
pub mod compilers;
mod gain;
mod interleave;
mod look_behind;
pub mod messages;
mod original;
pub mod peers;
mod rows;
pub mod sboxes;
mod scaling;
mod schedulers;
mod specialise;
pub mod speed;
mod stream_cost;
mod view;

use crate::study;

pub use speed::report;

/// The committed results of a study as tables and charts; `None` for those of others.
pub fn committed(
    experiment: &str,
    file: &str,
    evidence: &crate::evidence::Evidence,
) -> Option<Vec<::report::page::Block>> {
    match (experiment, file) {
        ("cipher-speed", "speed") => Some(speed::committed(evidence)),
        ("cipher-streams", _) => Some(peers::committed(evidence)),
        ("cipher-messages", "messages") => Some(study::committed::<messages::Messages>(evidence)),
        ("cipher-constant-time", "compilers") => Some(compilers::committed(evidence)),
        ("cipher-tune", "best") => Some(study::committed::<best::Best>(evidence)),
        // The programs behind the rows of `tune`: hundreds, for the medians that the tuner expects;
        // and what the page on the assembly says of the model's choices.
        ("cipher-tune", "tried" | "by_model") => Some(Vec::new()),
        ("cipher-schedulers" | "cipher-bytes", study) => bench::committed(study, evidence),
        _ => None,
    }
}
