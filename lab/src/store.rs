//! Door: evidence files: written as a whole, or after each row, and gone on with.

use std::path::{Path, PathBuf};

use measure::machine;
use report::Kind;
use serde::Serialize;
use serde_json::{Map, Value};
use terminal::output::{Failure, check_writable, write_file};
use terminal::{Machine, machine_here};

use crate::evidence::Evidence;

/// Rows of an evidence file, which is written after each of them.
pub struct Store {
    path: Option<PathBuf>,
    kind: Kind,
    /// As it was before a measurement kept itself to some of its processors.
    machine: Machine,
    command: String,
    compilers: Vec<String>,
    /// In the order in which they were measured.
    pub rows: Vec<Value>,
}

impl Store {
    /// Opens a file and takes its rows, which must be of the same command on this machine.
    pub fn open(path: Option<PathBuf>, command: String) -> Result<Store, Failure> {
        check(path.as_deref())?;
        let (kind, machine, compilers) = (Kind::Measured, machine_here(), compilers());
        let Some(path) = path else {
            let rows = Vec::new();
            return Ok(Store { path, kind, machine, command, compilers, rows });
        };
        let earlier = earlier(&path)?;
        if let Some(other) = earlier.as_ref().filter(|earlier| earlier.command != command) {
            return Err(cannot_go_on(&path, &format!("its rows are those of `{}`", other.command)));
        }
        let rows = earlier.into_iter().flat_map(|it| it.rows).map(Value::Object).collect();
        Ok(Store { path: Some(path), kind, machine, command, compilers, rows })
    }

    /// The same with these compilers instead of the two that `speed` uses.
    pub fn with_compilers(self, compilers: Vec<String>) -> Store {
        Store { compilers, ..self }
    }

    /// The same for rows of another kind than measured.
    pub fn with_kind(self, kind: Kind) -> Store {
        Store { kind, ..self }
    }

    /// The row of this configuration: all its fields are equal.
    pub fn find(&self, config: &impl Serialize) -> Option<&Value> {
        let key = serde_json::to_value(config).expect("a configuration is plain data");
        let fields = key.as_object().expect("a configuration is an object");
        self.rows.iter().find(|row| fields.iter().all(|(name, value)| row.get(name) == Some(value)))
    }

    /// Whether it was measured.
    pub fn has(&self, config: &impl Serialize) -> bool {
        self.find(config).is_some()
    }

    /// Adds a row and writes the file.
    pub fn push(&mut self, row: Value) -> Result<(), Failure> {
        self.rows.push(row);
        let Some(path) = &self.path else { return Ok(()) };
        let evidence = Evidence {
            kind: self.kind,
            machine: self.machine.clone(),
            date: machine::today(),
            compilers: self.compilers.clone(),
            command: self.command.clone(),
            rows: self.rows.iter().filter_map(|row| row.as_object().cloned()).collect(),
        };
        write(path, &evidence)
    }
}

fn compilers() -> Vec<String> {
    cipher::native::Cc::ALL.iter().filter_map(|cc| cc.version().ok()).collect()
}

/// Writes the rows of a command of this machine to its evidence file.
pub fn store(
    path: &Path,
    kind: Kind,
    compiler: (&str, &str),
    command: &str,
    rows: Vec<Map<String, Value>>,
) -> Result<(), Failure> {
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
    measure::file::create_folder_of(path).map_err(|error| {
        Failure::environment(format!("create the folder of {}", path.display()), error)
    })
}

/// Refuses an evidence file that [`store`] could not write, before minutes are spent on its rows.
pub fn check(path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    create_folder_of(path)?;
    check_writable(path)
}

/// What an earlier run that was ended has left in `path`, if anything. Refused if another machine
/// measured it: its rows would be taken for this one's.
pub fn earlier(path: &Path) -> Result<Option<Evidence>, Failure> {
    // A device or a pipe is written to, never gone on with.
    if !path.is_file() {
        return Ok(None);
    }
    let evidence = Evidence::load(path).map_err(|error| cannot_go_on(path, &error.said))?;
    if evidence.machine.cpu != machine::Machine::here().cpu {
        return Err(cannot_go_on(path, "it was measured on another machine"));
    }
    Ok(Some(evidence))
}

/// A file whose rows are not those of this run.
pub fn cannot_go_on(path: &Path, said: &str) -> Failure {
    Failure::user(
        format!("cannot go on with `{}`: {said}", path.display()),
        Some("name another file, or remove this one"),
    )
}
