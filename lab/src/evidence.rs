//! What evidence files of all commands have in common.

use std::path::Path;

use measure::machine::{self, Machine};
use report::{Evidence, Kind};
use serde_json::{Map, Value};

use terminal::machine_here;
use terminal::output::{Failure, check_writable, write_file};

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
    write(path, &evidence)
}

/// Writes an evidence file, and its folder if it is missing.
pub fn write(path: &Path, evidence: &Evidence) -> Result<(), Failure> {
    create_folder_of(path)?;
    write_file(path, evidence.to_json())
}

fn create_folder_of(path: &Path) -> Result<(), Failure> {
    measure::file::create_folder_of(path).map_err(|error| Failure::environment(format!("create the folder of {}", path.display()), error))
}

/// Refuses an evidence file that [`store`] could not write, before minutes are spent on its rows.
pub fn check(path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    create_folder_of(path)?;
    check_writable(path)
}

/// What an earlier run that was ended has left in `path`, if anything. Refused if another machine measured it: its rows
/// would be taken for this one's.
pub fn earlier(path: &Path) -> Result<Option<Evidence>, Failure> {
    // A device or a pipe is written to, never gone on with.
    if !path.is_file() {
        return Ok(None);
    }
    let evidence = Evidence::load(path).map_err(|error| cannot_go_on(path, &error.said))?;
    if evidence.machine.cpu != Machine::here().cpu {
        return Err(cannot_go_on(path, "it was measured on another machine"));
    }
    Ok(Some(evidence))
}

/// A file whose rows are not those of this run.
pub fn cannot_go_on(path: &Path, said: &str) -> Failure {
    Failure::user(format!("cannot go on with `{}`: {said}", path.display()), Some("name another file, or remove this one"))
}
