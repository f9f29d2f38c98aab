//! What the programs of this workspace have in common at the terminal: how they print, how they fail, how names are chosen.

pub mod choice;
pub mod output;

use measure::machine::Machine;

/// The machine as objects and evidence files name it.
pub fn machine_here() -> report::evidence::Machine {
    let machine = Machine::here();
    let os = format!("{}, {}", machine.distribution, machine.kernel);
    report::evidence::Machine { cpu: machine.cpu, cores: machine.n_cores, os, virtualised: machine.virtualised }
}
