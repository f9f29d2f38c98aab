//! What a number is: computed from a model, counted in a simulation, or measured on a machine.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a number comes from; every table, chart and evidence file says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Computed from tables about a machine.
    Model,
    /// Counted by a simulator.
    Sim,
    /// Measured on a machine.
    Measured,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Model => "model",
            Kind::Sim => "sim",
            Kind::Measured => "measured",
        })
    }
}
