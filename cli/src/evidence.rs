//! What evidence files of all commands have in common.

use std::path::Path;

use measure::machine::{self, Machine};
use report::{Evidence, Kind};
use serde_json::{Map, Value};

use crate::output::Failure;

/// The machine as evidence files name it.
pub fn machine_here() -> report::evidence::Machine {
    let machine = Machine::here();
    let os = format!("{}, {}", machine.distribution, machine.kernel);
    report::evidence::Machine { cpu: machine.cpu, cores: machine.n_cores, os, virtualised: machine.virtualised }
}

/// Writes the rows of a command of this machine to its evidence file.
pub fn store(path: &Path, kind: Kind, compiler: (&str, &str), command: &str, rows: Vec<Map<String, Value>>) -> Result<(), Failure> {
    let evidence = Evidence {
        kind,
        machine: machine_here(),
        date: machine::today(),
        compilers: vec![machine::version(compiler.0, &[compiler.1]).map_err(Failure::tool)?],
        command: command.to_owned(),
        rows,
    };
    evidence.store(path).map_err(|error| Failure::environment(format!("write {}", path.display()), error.said))
}
