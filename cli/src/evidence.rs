//! What evidence files of all commands have in common.

use measure::machine::Machine;

/// The machine as evidence files name it.
pub fn machine_here() -> report::evidence::Machine {
    let machine = Machine::here();
    let os = format!("{}, {}", machine.distribution, machine.kernel);
    report::evidence::Machine { cpu: machine.cpu, cores: machine.n_cores, os, virtualised: machine.virtualised }
}
