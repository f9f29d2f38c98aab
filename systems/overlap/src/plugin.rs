//! Door: builds the LLVM plugin and the tracing libraries, and keeps them in the user's cache
//! folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use measure::cache::{self, Key};
use measure::tool::{self, ToolError};

use crate::llvm::Llvm;
use crate::mpi::{self, Language, Mpi, WITHIN};

const BUILD_LIMIT: Duration = Duration::from_secs(600);

macro_rules! sources {
    ($($name:literal),+) => { &[$(($name, include_str!(concat!("../plugin/", $name)))),+] };
}

const SOURCES: &[(&str, &str)] = sources![
    "CMakeLists.txt",
    "meanwhile-overlap-config.cmake.in",
    "MpiCalls.def",
    "Refusals.def",
    "Across.cpp",
    "Across.h",
    "AskedWaits.cpp",
    "AskedWaits.h",
    "Behind.cpp",
    "Behind.h",
    "Border.cpp",
    "Border.h",
    "Calls.cpp",
    "Calls.h",
    "Classify.cpp",
    "Classify.h",
    "CleanUp.cpp",
    "CleanUp.h",
    "Cost.cpp",
    "Cost.h",
    "CountPending.cpp",
    "CountPending.h",
    "DeferPasses.cpp",
    "DeferPasses.h",
    "Derived.cpp",
    "Derived.h",
    "Effects.cpp",
    "Effects.h",
    "ErrorHandler.cpp",
    "ErrorHandler.h",
    "Existing.cpp",
    "Existing.h",
    "FillFirst.cpp",
    "FillFirst.h",
    "Fortran08.cpp",
    "Fortran08.h",
    "Frontier.cpp",
    "Frontier.h",
    "Guard.cpp",
    "Guard.h",
    "Helpers.cpp",
    "Helpers.h",
    "HoldLoops.cpp",
    "HoldLoops.h",
    "Independent.cpp",
    "Independent.h",
    "Inline.cpp",
    "Inline.h",
    "Later.cpp",
    "Later.h",
    "Lines.cpp",
    "Lines.h",
    "List.cpp",
    "List.h",
    "Look.cpp",
    "Look.h",
    "Options.cpp",
    "Options.h",
    "Ordinary.cpp",
    "Ordinary.h",
    "OwnWindows.cpp",
    "OwnWindows.h",
    "PassLoop.cpp",
    "PassLoop.h",
    "Pipeline.cpp",
    "Pipeline.h",
    "Plugin.cpp",
    "PollEverywhere.cpp",
    "PollEverywhere.h",
    "PollingLoops.cpp",
    "PollingLoops.h",
    "Profile.cpp",
    "Profile.h",
    "Progress.cpp",
    "Progress.h",
    "Reload.cpp",
    "Reload.h",
    "Remarks.cpp",
    "Remarks.h",
    "Runtime.cpp",
    "Runtime.h",
    "Scopes.cpp",
    "Scopes.h",
    "Split.cpp",
    "Split.h",
    "Stages.cpp",
    "Stages.h",
    "Started.cpp",
    "Started.h",
    "Statements.cpp",
    "Statements.h",
    "Strip.cpp",
    "Strip.h",
    "System.cpp",
    "System.h",
    "ThreeLoops.cpp",
    "ThreeLoops.h",
    "Together.cpp",
    "Together.h",
    "Versions.h",
    "WholeProgram.cpp",
    "WholeProgram.h",
    "Widen.cpp",
    "Widen.h",
    "Wildcards.cpp",
    "Wildcards.h",
    "Wrapper.cpp",
    "Wrapper.h",
    "runtime/clock.h",
    "runtime/embed.cmake",
    "runtime/first.c",
    "runtime/handles.h",
    "runtime/later.c",
    "runtime/message.c",
    "runtime/pending.c"
];

/// The CMake package, for the version in place of `@OVERLAP_LLVM@`.
pub(crate) const PACKAGE: &str = include_str!("../plugin/meanwhile-overlap-config.cmake.in");

/// What its files are kept as, see [`cache::folder`].
pub const CACHE: &str = "overlap";

/// The sources of the plugin, and the compiler that makes it.
fn key(llvm: Llvm) -> Result<Key, ToolError> {
    let key =
        Key::default().with(measure::machine::version(llvm.compiler(Language::C), &["--version"])?);
    Ok(SOURCES.iter().fold(key, |key, (name, text)| key.with(name).with(text)))
}

/// True if [`plugin`] has it already.
///
/// Errors: if the compiler is missing.
pub fn is_built(llvm: Llvm) -> Result<bool, ToolError> {
    Ok(cache::find(CACHE, key(llvm)?, ".so").is_some())
}

/// The plugin as a shared object, built if it is not in the cache.
///
/// Errors: if cmake, ninja, clang++ or LLVM's headers of this version are missing, or the build fails.
pub fn plugin(llvm: Llvm) -> Result<PathBuf, ToolError> {
    cache::kept(CACHE, key(llvm)?, ".so", |scratch, made| {
        let (source, build) = (scratch.join("source"), scratch.join("build"));
        let runtime = source.join("runtime");
        std::fs::create_dir_all(&runtime).map_err(|error| failed("create", &runtime, &error))?;
        for (name, text) in SOURCES {
            let path = source.join(name);
            cache::write(&path, text)?;
        }
        let mut configure = Command::new("cmake");
        let number = llvm.number();
        configure
            .args(["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"])
            .arg(format!("-DOVERLAP_LLVM={number}"));
        configure.arg(format!("-DCMAKE_C_COMPILER={}", llvm.compiler(Language::C)));
        configure.arg(format!("-DCMAKE_CXX_COMPILER={}", llvm.compiler(Language::Cxx)));
        configure.arg("-S").arg(&source).arg("-B").arg(&build);
        tool::run(&mut configure, b"", BUILD_LIMIT)?.ok().map_err(|error| ToolError {
            said: format!(
                "the plugin needs cmake, ninja, clang-{number} and LLVM {number}'s headers (llvm-{number}-dev)\n{}",
                last_lines(&error.said)
            ),
            ran: error.ran,
        })?;
        let mut compile = Command::new("ninja");
        compile.arg("-C").arg(&build).args(["-j", "2"]);
        tool::run(&mut compile, b"", BUILD_LIMIT)?.ok()?;
        let library = build.join("overlap.so");
        std::fs::rename(&library, made).map_err(|error| failed("keep", &library, &error))
    })
}

/// An object that keeps every converted call of a program blocking.
pub fn switch_off() -> Result<PathBuf, ToolError> {
    const TEXT: &str = "const char __overlap_off = 1;\n";
    cache::kept(CACHE, Key::default().with(TEXT), ".o", |scratch, made| {
        let path = scratch.join("off.c");
        cache::write(&path, TEXT)?;
        let mut command = Command::new(any_clang()?);
        command.args(["-fPIC", "-c"]).arg(&path).arg("-o").arg(made);
        tool::run(&mut command, b"", BUILD_LIMIT)?.ok()?;
        Ok(())
    })
}

/// The tracing library for one MPI.
///
/// Errors: if the wrapper or a clang is missing.
pub fn trace_library(mpi: Mpi) -> Result<PathBuf, ToolError> {
    library(mpi, "trace.c", include_str!("../pmpi/trace.c"))
}

/// The object for one MPI by which the ranks of a program agree on their collectives; with
/// `min_bytes`, that is the least length of all kinds.
///
/// Errors: if the wrapper or a clang is missing.
pub fn agreement(mpi: Mpi, min_bytes: Option<u64>) -> Result<PathBuf, ToolError> {
    const TEXTS: [(&str, &str); 2] = [
        ("agreed.c", include_str!("../pmpi/agreed.c")),
        ("handles.h", include_str!("../plugin/runtime/handles.h")),
    ];
    // The program compares it with numbers that have a sign.
    let least = min_bytes
        .map(|bytes| format!("-DMIN_BYTES=INT64_C({})", bytes.min(i64::MAX.unsigned_abs())));
    let key = TEXTS.iter().fold(Key::default().with(mpi.name()), |key, pair| key.with(pair.1));
    cache::kept(CACHE, key.with(least.as_deref().unwrap_or_default()), ".o", |scratch, made| {
        for (name, text) in TEXTS {
            cache::write(&scratch.join(name), text)?;
        }
        let mut command = by_wrapper(mpi, scratch)?;
        command.args(["-O2", "-fPIC", "-std=gnu11", "-c", "agreed.c", "-o"]).arg(made);
        command.args(least);
        tool::run(&mut command, b"", BUILD_LIMIT)?.ok()?;
        Ok(())
    })
}

/// One C file compiled to a shared object against one MPI.
fn library(mpi: Mpi, name: &str, text: &str) -> Result<PathBuf, ToolError> {
    cache::kept(
        CACHE,
        Key::default().with(mpi.name()).with(name).with(text),
        ".so",
        |scratch, made| {
            let path = scratch.join(name);
            cache::write(&path, text)?;
            let mut command = by_wrapper(mpi, scratch)?;
            command
                .args(["-O2", "-shared", "-fPIC", "-std=gnu11", name, "-o"])
                .arg(made)
                .arg("-ldl");
            tool::run(&mut command, b"", BUILD_LIMIT)?.ok()?;
            Ok(())
        },
    )
}

/// `mpi.h` of one MPI as a compiler sees it.
///
/// Errors: if the wrapper or a clang is missing.
pub(crate) fn preprocessed(mpi: Mpi, scratch: &Path) -> Result<String, ToolError> {
    cache::write(&scratch.join("header.c"), "#include <mpi.h>\n")?;
    let mut command = by_wrapper(mpi, scratch)?;
    command.args(["-E", "-P", "header.c"]);
    Ok(tool::run(&mut command, b"", BUILD_LIMIT)?.ok()?.text().to_owned())
}

/// The wrapper of one MPI for C, with a clang, in a folder. It may be what runs us.
fn by_wrapper(mpi: Mpi, folder: &Path) -> Result<Command, ToolError> {
    let mut command = Command::new(mpi.wrapper(Language::C)?);
    command.env(mpi.compiler_variable(Language::C), any_clang()?).current_dir(folder);
    command.env_remove(mpi::RECURSION).env(WITHIN, "1");
    Ok(command)
}

/// What compiles C that is the same for all versions.
pub(crate) fn any_clang() -> Result<&'static str, ToolError> {
    Ok(Llvm::present(Language::C)?.compiler(Language::C))
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

fn failed(what: &str, path: &Path, error: &std::io::Error) -> ToolError {
    ToolError { ran: format!("{what} {}", path.display()), said: error.to_string() }
}
