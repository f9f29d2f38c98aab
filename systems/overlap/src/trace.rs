//! Door: runs a program under the tracing library, and reads what each rank measured.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use measure::tool::{self, ToolError};
use object::{Object, ObjectSection, ObjectSymbol};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::mpi::Mpi;
use crate::plugin;

/// One call site on one rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Such as `MPI_Send`.
    pub call: String,
    /// Source file; empty for a call that was not converted.
    pub file: String,
    /// Line; 0 for a call that was not converted.
    pub line: u64,
    /// The rank.
    pub rank: u32,
    /// How often it was executed.
    pub count: u64,
    /// Payload, all executions together; 0 where it may differ between ranks.
    pub bytes: u64,
    /// Mean time from start to wait in microseconds; none for a call that was not converted.
    pub window_us: Option<f64>,
    /// Time inside MPI in microseconds, all executions together.
    pub mpi_us: f64,
}

/// What a run measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The library.
    pub mpi: Mpi,
    /// Number of processes.
    pub ranks: u32,
    /// Converted sites in the program; executed or not.
    pub transformed: usize,
    /// All sites of all ranks.
    pub rows: Vec<Row>,
}

/// One site, over all ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// Such as `MPI_Send`.
    pub call: String,
    /// Source file.
    pub file: String,
    /// Line.
    pub line: u64,
    /// Mean window in microseconds, over ranks.
    pub window_us: f64,
}

/// A mean window below this hides nothing worth mentioning, in microseconds.
pub const SIGNIFICANT_US: f64 = 5.0;

impl Trace {
    /// Converted sites that were executed, each with its mean window over the ranks that came there.
    pub fn sites(&self) -> Vec<Site> {
        let mut found: Vec<(Site, usize)> = Vec::new();
        for row in &self.rows {
            let Some(window_us) = row.window_us.filter(|_| row.count > 0) else { continue };
            match found.iter_mut().find(|(it, _)| (&it.call, &it.file, it.line) == (&row.call, &row.file, row.line)) {
                Some((site, ranks)) => {
                    site.window_us += window_us;
                    *ranks += 1;
                }
                None => found.push((Site { call: row.call.clone(), file: row.file.clone(), line: row.line, window_us }, 1)),
            }
        }
        let mut sites: Vec<Site> =
            found.into_iter().map(|(site, ranks)| Site { window_us: site.window_us / ranks as f64, ..site }).collect();
        sites.sort_by(|a, b| (&a.file, a.line, &a.call).cmp(&(&b.file, b.line, &b.call)));
        sites
    }
}

/// Runs `words`, such as `mpirun -n 2 ./a`, under the library; its output goes where ours goes.
///
/// # Errors
/// If the program is none of MPI's, cannot be run, fails, or ends before MPI_Finalize.
pub fn run(words: &[String], quiet: bool) -> Result<Trace, ToolError> {
    let (program, mpi) = program(words)?;
    let library = plugin::trace_library(mpi)?;
    let folder =
        measure::scratch::folder().map_err(|error| ToolError { ran: "make a scratch folder".to_owned(), said: error.to_string() })?;
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env("LD_PRELOAD", &library).env("MEANWHILE_TRACE_DIR", folder.path());
    let ran = tool::command_line(&command);
    let failed = |said: String| ToolError { ran: ran.clone(), said };
    if quiet {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    let status = command.status().map_err(|error| failed(error.to_string()))?;
    if !status.success() {
        return Err(failed(status.to_string()));
    }
    let mut rows: Vec<Row> = Vec::new();
    let mut ranks = 0;
    while let Ok(text) = std::fs::read_to_string(folder.path().join(format!("rank-{ranks}.json"))) {
        let value: Value = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        let more: Vec<Row> = serde_json::from_value(value["rows"].clone()).map_err(|error| failed(error.to_string()))?;
        rows.extend(more);
        ranks += 1;
    }
    if ranks == 0 {
        return Err(failed("no rank wrote a trace: did the program call MPI_Finalize?".to_owned()));
    }
    Ok(Trace { mpi, ranks, transformed: transformed(&program), rows })
}

/// The program that a launcher's command line starts, and whose MPI it is linked with.
fn program(words: &[String]) -> Result<(PathBuf, Mpi), ToolError> {
    let failed = |said: &str| ToolError { ran: words.join(" "), said: said.to_owned() };
    for word in words.iter().skip(1).chain(words.first()) {
        let path = if word.contains('/') { PathBuf::from(word) } else { tool::find(word).unwrap_or_else(|| PathBuf::from(word)) };
        if let Some(mpi) = linked_with(&path) {
            return Ok((path, mpi));
        }
    }
    Err(failed("none of these words is a program linked with OpenMPI or MPICH"))
}

/// Launchers are linked with parts of the libraries, programs with `libmpi` or `libmpich` itself.
fn linked_with(path: &Path) -> Option<Mpi> {
    let bytes = std::fs::read(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let names = |what: &str| file.dynamic_symbols().any(|it| it.is_undefined() && it.name() == Ok(what));
    if !names("MPI_Init") && !names("MPI_Init_thread") && !names("mpi_init_") {
        return None;
    }
    let dynamic = file.section_by_name(".dynstr")?.data().ok()?;
    let needs = |name: &[u8]| dynamic.windows(name.len()).any(|it| it == name);
    if needs(b"libmpich") {
        Some(Mpi::Mpich)
    } else if needs(b"libmpi.so") || needs(b"libmpi_mpifh") {
        Some(Mpi::OpenMpi)
    } else {
        None
    }
}

/// Number of different sites in the section that the plugin fills.
fn transformed(program: &Path) -> usize {
    let Ok(bytes) = std::fs::read(program) else { return 0 };
    let Ok(file) = object::File::parse(&*bytes) else { return 0 };
    let Some(section) = file.section_by_name("overlap_sites") else { return 0 };
    let mut names: Vec<&[u8]> = section.data().unwrap_or_default().split(|it| *it == 0).filter(|it| !it.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(rank: u32, line: u64, window_us: Option<f64>) -> Row {
        Row { call: "MPI_Send".to_owned(), file: "a.c".to_owned(), line, rank, count: 3, bytes: 0, window_us, mpi_us: 1.0 }
    }

    #[test]
    fn windows_are_means_over_ranks() {
        let rows = vec![row(0, 9, Some(10.0)), row(1, 9, Some(30.0)), row(1, 4, Some(7.0)), row(0, 2, None)];
        let trace = Trace { mpi: Mpi::OpenMpi, ranks: 2, transformed: 2, rows };
        let sites: Vec<(u64, f64)> = trace.sites().into_iter().map(|it| (it.line, it.window_us)).collect();
        assert_eq!(sites, [(4, 7.0), (9, 20.0)]);
    }
}
