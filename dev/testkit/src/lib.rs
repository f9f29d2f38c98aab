//! Door: what tests of all crates have in common: skips that are seen at the end of `make test`,
//! and the object that a command prints.

use std::io::Write;
use std::process::Output;

/// Adds a line to the list that `make test` shows at its end: which test does not run here, and
/// what it lacks. Without such a list, as under `cargo test`, nobody is told.
pub fn skipped(line: &str) {
    let Some(path) = std::env::var_os("MEANWHILE_SKIPS").filter(|path| !path.is_empty()) else {
        return;
    };
    let mut list = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .expect("the list of skips can be opened");
    // In one call, since test programs run side by side.
    list.write_all(format!("{line}\n").as_bytes()).expect("the list of skips can be written");
}

/// True if these programs are installed; else the tests of `subject` are in the list of skips.
pub fn has(subject: &str, programs: &[&str]) -> bool {
    let missing: Vec<&str> =
        programs.iter().copied().filter(|name| measure::tool::find(name).is_none()).collect();
    if !missing.is_empty() {
        skipped(&format!("{subject}: {} is missing", missing.join(", ")));
    }
    missing.is_empty()
}

/// The one object that a command printed under `--json`.
///
/// Panics: it printed something else: with what it said on standard error.
pub fn json(ran: &Output) -> serde_json::Value {
    serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&ran.stderr)))
}
