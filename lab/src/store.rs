//! Door: rows of an evidence file, which is written after each of them.

use std::path::PathBuf;

use measure::machine;
use report::{Evidence, Kind};
use serde::Serialize;
use serde_json::Value;
use terminal::machine_here;
use terminal::output::Failure;

use crate::evidence;

/// Rows of an evidence file, which is written after each of them.
pub struct Store {
    path: Option<PathBuf>,
    command: String,
    compilers: Vec<String>,
    /// In the order in which they were measured.
    pub rows: Vec<Value>,
}

impl Store {
    /// Opens a file and takes its rows, which must be of the same command on this machine.
    pub fn open(path: Option<PathBuf>, command: String) -> Result<Store, Failure> {
        evidence::check(path.as_deref())?;
        let Some(path) = path else { return Ok(Store { path, command, compilers: compilers(), rows: Vec::new() }) };
        let earlier = evidence::earlier(&path)?;
        if let Some(other) = earlier.as_ref().filter(|it| it.command != command) {
            return Err(evidence::cannot_go_on(&path, &format!("its rows are those of `{}`", other.command)));
        }
        let rows = earlier.into_iter().flat_map(|it| it.rows).map(Value::Object).collect();
        Ok(Store { path: Some(path), command, compilers: compilers(), rows })
    }

    /// The same with these compilers instead of the two that `speed` uses.
    pub fn with_compilers(self, compilers: Vec<String>) -> Store {
        Store { compilers, ..self }
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
            kind: Kind::Measured,
            machine: machine_here(),
            date: machine::today(),
            compilers: self.compilers.clone(),
            command: self.command.clone(),
            rows: self.rows.iter().filter_map(|row| row.as_object().cloned()).collect(),
        };
        evidence::write(path, &evidence)
    }
}

fn compilers() -> Vec<String> {
    cipher::native::Cc::ALL.iter().filter_map(|cc| cc.version().ok()).collect()
}
