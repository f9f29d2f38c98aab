//! What a program is to its owner.

use serde::{Deserialize, Serialize};

/// What a program is to its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// It waits for turns only while it is seen to compute all the time.
    #[default]
    Auto,
    /// Somebody waits for its answers: it never waits for a turn.
    Latency,
    /// Nobody waits for it: it may wait for turns though it sleeps now and then.
    Batch,
}

impl Class {
    pub const ALL: [Class; 3] = [Class::Auto, Class::Latency, Class::Batch];

    /// As on the command line.
    pub fn text(self) -> &'static str {
        match self {
            Class::Auto => "auto",
            Class::Latency => "latency",
            Class::Batch => "batch",
        }
    }
}
