//! Door: what other build systems call and load, in a folder such as `/usr/local`.
//!
//! ```text
//! bin/meanwhile-mpicc, bin/meanwhile-mpicxx, bin/meanwhile-mpifort
//! lib/overlap.so
//! lib/cmake/meanwhile-overlap/meanwhile-overlap-config.cmake
//! ```

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use measure::tool::{self, ToolError};

use crate::llvm::Llvm;
use crate::mpi::Language;
use crate::plugin;

/// In each file of ours.
const MARK: &str = "Written by `meanwhile overlap install`.";
/// In each plugin.
const IN_PLUGIN: &str = "__overlap_off";

const WRAPPERS: [(&str, &str, Language); 3] =
    [("meanwhile-mpicc", "cc", Language::C), ("meanwhile-mpicxx", "c++", Language::Cxx), ("meanwhile-mpifort", "fc", Language::Fortran)];
const PLUGIN: &str = "lib/overlap.so";
const PACKAGE: &str = "lib/cmake/meanwhile-overlap/meanwhile-overlap-config.cmake";

/// Files under `prefix` that [`install`] would write over and that are not ours.
pub fn foreign(prefix: &Path) -> Vec<PathBuf> {
    let scripts = WRAPPERS.iter().map(|(name, ..)| (prefix.join("bin").join(name), MARK));
    let others = [(prefix.join(PACKAGE), MARK), (prefix.join(PLUGIN), IN_PLUGIN)];
    let is_foreign = |path: &Path, mark: &str| {
        path.symlink_metadata().is_ok() && !std::fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(mark))
    };
    scripts.chain(others).filter(|(path, mark)| is_foreign(path, mark)).map(|it| it.0).collect()
}

/// Writes all files, each in place of an older one, and gives their names: wrappers that run `program overlap cc OPTIONS --`
/// with the compilers of `llvm`, and its plugin.
///
/// # Errors
/// If the plugin cannot be built or a file cannot be written.
pub fn install(prefix: &Path, program: &Path, options: &[String], llvm: Llvm) -> Result<Vec<PathBuf>, ToolError> {
    let mut written = Vec::new();
    for (name, command, language) in WRAPPERS {
        let mut driver = Command::new(program);
        driver.args(["overlap", command]).args(options).arg(format!("--compiler={}", llvm.compiler(language))).arg("--");
        let text = format!("#!/bin/sh\n# {MARK}\nexec {} \"$@\"\n", tool::command_line(&driver));
        let path = prefix.join("bin").join(name);
        write(&path, text.as_bytes())?;
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).map_err(|error| failed(&path, &error))?;
        written.push(path);
    }
    let built = plugin::plugin(llvm)?;
    let bytes = std::fs::read(&built).map_err(|error| ToolError { ran: format!("read {}", built.display()), said: error.to_string() })?;
    let package = plugin::PACKAGE.replace("@OVERLAP_LLVM@", &llvm.number().to_string());
    for (name, bytes) in [(PLUGIN, bytes), (PACKAGE, format!("# {MARK}\n{package}").into_bytes())] {
        let path = prefix.join(name);
        write(&path, &bytes)?;
        written.push(path);
    }
    Ok(written)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ToolError> {
    let folder = path.parent().expect("a name below the folder");
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    measure::file::write(path, bytes).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> ToolError {
    ToolError { ran: format!("write {}", path.display()), said: error.to_string() }
}
