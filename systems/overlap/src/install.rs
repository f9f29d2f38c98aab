//! Door: what other build systems call and load, in a folder such as `/usr/local`.
//!
//! ```text
//! bin/meanwhile-mpicc, bin/meanwhile-mpicxx, bin/meanwhile-mpifort
//! lib/overlap.so
//! lib/meanwhile/meanwhile
//! lib/meanwhile/fortran/KEY/mpi.mod, mpi_f08.mod and what they need, for each MPI that is here
//! lib/cmake/meanwhile-overlap/meanwhile-overlap-config.cmake
//! ```
//!
//! The folder stands alone: the wrappers run the program and load the plugin that lie beside them,
//! so it may be moved, and shared with users who have neither a checkout nor a home.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use measure::tool::{self, ToolError};

use crate::flang;
use crate::llvm::Llvm;
use crate::mpi::{Language, Mpi};
use crate::plugin;

/// In each file of ours.
const MARK: &str = "Written by `meanwhile overlap install`.";
/// In each plugin, and in each program that has its sources.
const IN_PLUGIN: &str = "__overlap_off";

const WRAPPERS: [(&str, &str, Language); 3] = [
    ("meanwhile-mpicc", "cc", Language::C),
    ("meanwhile-mpicxx", "c++", Language::Cxx),
    ("meanwhile-mpifort", "fc", Language::Fortran),
];
const PLUGIN: &str = "lib/overlap.so";
const PROGRAM: &str = "lib/meanwhile/meanwhile";
/// Where the program looks first for the modules.
const FORTRAN: &str = "lib/meanwhile/fortran";
const PACKAGE: &str = "lib/cmake/meanwhile-overlap/meanwhile-overlap-config.cmake";

/// Files under `prefix` that [`install`] would write over and that are not ours.
pub fn foreign(prefix: &Path) -> Vec<PathBuf> {
    let scripts = WRAPPERS.iter().map(|(name, ..)| (prefix.join("bin").join(name), MARK));
    let others = [(PACKAGE, MARK), (PLUGIN, IN_PLUGIN), (PROGRAM, IN_PLUGIN)]
        .map(|(name, mark)| (prefix.join(name), mark));
    let is_foreign = |path: &Path, mark: &str| {
        path.symlink_metadata().is_ok()
            && !std::fs::read(path)
                .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(mark))
    };
    scripts
        .chain(others)
        .filter(|(path, mark)| is_foreign(path, mark))
        .map(|script| script.0)
        .collect()
}

/// Writes all files, each in place of an older one, and gives their names: wrappers that run a copy
/// of `program` as `overlap cc OPTIONS --` with the compilers of `llvm`, and its plugin.
///
/// Errors: if the plugin cannot be built or a file cannot be read or written.
pub fn install(
    prefix: &Path,
    program: &Path,
    options: &[String],
    llvm: Llvm,
) -> Result<Vec<PathBuf>, ToolError> {
    let plugin = read(&plugin::plugin(llvm)?)?;
    let package = plugin::PACKAGE.replace("@OVERLAP_LLVM@", &llvm.number().to_string());
    let mut files = vec![
        (PLUGIN.to_owned(), plugin, 0o644),
        (PROGRAM.to_owned(), read(program)?, 0o755),
        (PACKAGE.to_owned(), format!("# {MARK}\n{package}").into_bytes(), 0o644),
    ];
    for (name, command, language) in WRAPPERS {
        files.push((
            format!("bin/{name}"),
            wrapper(command, language, options, llvm).into_bytes(),
            0o755,
        ));
    }
    let mut written = Vec::new();
    for folder in modules(options, llvm) {
        for file in std::fs::read_dir(&folder).map_err(|error| failed(&folder, &error))? {
            let path = file.map_err(|error| failed(&folder, &error))?.path();
            let kept = path.strip_prefix(folder.parent().expect("a folder of the cache"));
            let name = kept.expect("it lies in the folder").display().to_string();
            files.push((format!("{FORTRAN}/{name}"), read(&path)?, 0o644));
        }
    }
    for (name, bytes, mode) in files {
        let path = prefix.join(name);
        write(&path, &bytes, mode)?;
        written.push(path);
    }
    Ok(written)
}

/// The folders of modules for the library that options name, or for those that are here. Where there
/// is no Fortran, or they cannot be made, the first use says why.
fn modules(options: &[String], llvm: Llvm) -> Vec<PathBuf> {
    let named = options.iter().find_map(|option| Mpi::named(option.strip_prefix("--mpi=")?));
    let made = |mpi: Mpi| {
        let flags = mpi.flags(Language::Fortran).ok()?;
        flang::modules(mpi, &flags, llvm.compiler(Language::Fortran), llvm).ok()
    };
    Mpi::ALL
        .into_iter()
        .filter(|mpi| named.is_none_or(|named| named == *mpi))
        .filter_map(made)
        .collect()
}

/// The script of one language. It finds its folder by its own place, through symbolic links, too.
fn wrapper(command: &str, language: Language, options: &[String], llvm: Llvm) -> String {
    let mut driver = Command::new(command);
    driver.args(options).arg(format!("--compiler={}", llvm.compiler(language)));
    let words = tool::command_line(&driver);
    format!(
        "#!/bin/sh\n# {MARK}\nself=$(readlink -f -- \"$0\") || exit 2\nprefix=${{self%/bin/*}}\n\
         exec \"$prefix/{PROGRAM}\" overlap {words} --plugin=\"$prefix/{PLUGIN}\" -- \"$@\"\n"
    )
}

fn read(path: &Path) -> Result<Vec<u8>, ToolError> {
    std::fs::read(path).map_err(|error| ToolError {
        ran: format!("read {}", path.display()),
        said: error.to_string(),
    })
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), ToolError> {
    let folder = path.parent().expect("a name below the folder");
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    measure::file::write(path, bytes).map_err(|error| failed(path, &error))?;
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode))
        .map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> ToolError {
    ToolError { ran: format!("write {}", path.display()), said: error.to_string() }
}
