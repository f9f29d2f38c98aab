//! Door: the programs of our own, with the access patterns of the paper's, compiled for this
//! machine.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use measure::tool::{self, ToolError};

const HEADER: &str = include_str!("../../kernels/kernel.h");

const SOURCES: [(&str, &str); 8] = [
    ("BT", include_str!("../../kernels/bt.c")),
    ("SP", include_str!("../../kernels/sp.c")),
    ("CG", include_str!("../../kernels/cg.c")),
    ("MG", include_str!("../../kernels/mg.c")),
    ("FT", include_str!("../../kernels/ft.c")),
    ("FLUSH", include_str!("../../kernels/flush.c")),
    ("BBMA", include_str!("../../kernels/bbma.c")),
    ("nBBMA", include_str!("../../kernels/nbbma.c")),
];

/// Compiles one of [`crate::workload::KERNELS`] into `folder`, with OpenMP or without; its program.
///
/// Errors: what was run, and what it said.
///
/// Panics: if there is no such kernel.
pub fn compile(name: &str, folder: &Path, is_parallel: bool) -> Result<PathBuf, ToolError> {
    let (_, text) = SOURCES
        .iter()
        .find(|source| source.0 == name)
        .expect("names are checked where workloads are read");
    let io_error = |error: io::Error| ToolError {
        ran: format!("write {name} in {}", folder.display()),
        said: error.to_string(),
    };
    let made = folder.join(if is_parallel { name.to_owned() } else { format!("{name}-serial") });
    if made.is_file() {
        return Ok(made);
    }
    let source = folder.join(format!("{name}.c"));
    std::fs::write(folder.join("kernel.h"), HEADER)
        .and_then(|()| std::fs::write(&source, text))
        .map_err(io_error)?;
    let mut command = Command::new("cc");
    command.args(["-std=gnu11", "-O2"]);
    if is_parallel {
        command.arg("-fopenmp");
    }
    command.arg("-o").arg(&made).arg(&source).arg("-lm");
    tool::run(&mut command, b"", Duration::from_secs(60)).and_then(tool::Ran::ok)?;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_of_workloads_has_its_source() {
        assert_eq!(SOURCES.map(|source| source.0), crate::workload::KERNELS);
    }
}
