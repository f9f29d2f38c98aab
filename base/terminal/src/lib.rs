//! What the programs of this workspace have in common at the terminal: how they print, how they
//! fail, how names are chosen.

pub mod choice;
pub mod output;

use serde::{Deserialize, Serialize};

/// The machine the numbers come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Model name of the processor.
    pub cpu: String,
    /// Cores the operating system offers.
    pub cores: usize,
    /// Operating system and kernel release.
    pub os: String,
    /// True inside a virtual machine.
    pub virtualised: bool,
}

/// The machine as objects and evidence files name it.
pub fn machine_here() -> Machine {
    let machine = measure::machine::Machine::here();
    let os = format!("{}, {}", machine.distribution, machine.kernel);
    Machine { cpu: machine.cpu, cores: machine.n_cores, os, virtualised: machine.virtualised }
}
