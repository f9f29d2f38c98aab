//! Door: the modules `mpi` and `mpi_f08` for flang, made from a library's headers at the first use.
//!
//! Debian's are those of gfortran, which no other compiler can read; and each flang reads its own
//! only. What `meanwhile overlap install` has made lies beside its program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use measure::cache::{self, Key};
use measure::tool::{self, ToolError};
use object::{Object as _, ObjectSymbol as _};

use crate::fortran::{self, Library, Sources};
use crate::llvm::Llvm;
use crate::mpi::Mpi;
use crate::plugin;

const LIMIT: Duration = Duration::from_secs(120);

const ENDING: &str = ".modules";

/// Where [`crate::install`] puts them, beside the program.
const INSTALLED: &str = "fortran";

/// How its files of modules begin, behind a mark of the encoding.
const OF_FLANG: &[u8] = b"\xef\xbb\xbf!mod$";

const MADE_BY: &str = include_str!("flang.rs");

/// What a program that needs more than the library has is linked with.
const CALLS: &str = "libcalls.a";

/// The folder of the modules for a library, whose wrapper adds `flags`, and a compiler.
///
/// Errors: if the library has no `mpif.h`, or something does not compile.
pub(crate) fn modules(
    mpi: Mpi,
    flags: &[String],
    compiler: &str,
    llvm: Llvm,
) -> Result<PathBuf, ToolError> {
    let mpif = header("mpif.h", flags)?;
    let version = measure::machine::version(compiler, &["--version"])?;
    let key = [MADE_BY, fortran::MADE_BY, mpi.name(), &header("mpi.h", flags)?, &mpif, &version]
        .iter()
        .fold(Key::default(), |key, part| key.with(part));
    let installed = std::env::current_exe().ok().and_then(|program| {
        Some(program.parent()?.join(INSTALLED).join(format!("{}{ENDING}", key.clone().name())))
    });
    match installed.filter(|folder| folder.is_dir()) {
        Some(folder) => Ok(folder),
        None => cache::kept(plugin::CACHE, key, ENDING, |scratch, made| {
            make(mpi, flags, (compiler, llvm), &mpif, scratch, made)
        }),
    }
}

/// The words of a link for what the modules call and the library has not.
pub(crate) fn linked(modules: &Path) -> String {
    modules.join(CALLS).display().to_string()
}

/// Where the first folder with a module `mpi` of another compiler is named, if one is.
pub(crate) fn foreign(arguments: &[String]) -> Option<usize> {
    arguments.iter().enumerate().position(|(at, argument)| {
        let folder = match argument.as_str() {
            "-I" => arguments.get(at + 1).map(String::as_str),
            _ => argument.strip_prefix("-I"),
        };
        let module =
            folder.and_then(|folder| std::fs::read(Path::new(folder).join("mpi.mod")).ok());
        module.is_some_and(|bytes| !bytes.starts_with(OF_FLANG))
    })
}

/// The folders that flags name as those of headers or, with `-L`, of libraries.
fn folders<'a>(flags: &'a [String], option: &'a str) -> impl Iterator<Item = &'a Path> {
    flags.iter().filter_map(move |flag| flag.strip_prefix(option)).map(Path::new)
}

/// A header of the library, with the text of those that it includes as Fortran does, but for one
/// that flang 22 refuses and that the modules have in another form.
fn header(name: &str, flags: &[String]) -> Result<String, ToolError> {
    let path = folders(flags, "-I").map(|folder| folder.join(name)).find(|path| path.is_file());
    let text =
        path.as_deref().map(std::fs::read_to_string).and_then(Result::ok).ok_or_else(|| {
            ToolError {
                ran: format!("read {name}"),
                said: format!("no folder of headers of MPI has it: {}", flags.join(" ")),
            }
        })?;
    let mut whole = String::new();
    for line in text.lines() {
        let included =
            line.trim().strip_prefix("include '").and_then(|rest| rest.strip_suffix('\''));
        match included {
            Some("mpif-sizeof.h") => {}
            Some(included) => whole += &header(included, flags)?,
            None => whole.extend([line, "\n"]),
        }
    }
    Ok(whole)
}

/// The functions of the shared libraries of MPI that flags name.
fn symbols(flags: &[String]) -> BTreeSet<String> {
    let named = |library: &str| {
        folders(flags, "-L")
            .map(|folder| folder.join(format!("lib{library}.so")))
            .find(|path| path.is_file())
    };
    let mut found = BTreeSet::new();
    for path in flags.iter().filter_map(|flag| named(flag.strip_prefix("-l")?)) {
        let bytes = std::fs::read(path).unwrap_or_default();
        let Ok(file) = object::File::parse(&*bytes) else { continue };
        let names = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
        found.extend(
            names
                .filter_map(|symbol| symbol.name().ok())
                .filter(|name| name.starts_with("mpi_"))
                .map(str::to_owned),
        );
    }
    found
}

fn make(
    mpi: Mpi,
    flags: &[String],
    compiler: (&str, Llvm),
    mpif: &str,
    scratch: &Path,
    made: &Path,
) -> Result<(), ToolError> {
    let (compiler, llvm) = compiler;
    let header = plugin::preprocessed(mpi, scratch)?;
    let library = Library { header: &header, mpif, symbols: &symbols(flags), llvm };
    let Sources { modules, calls } = fortran::sources(&library).ok_or_else(|| ToolError {
        ran: "read mpif.h".to_owned(),
        said: "it does not say where MPI_STATUS_IGNORE is, or how long a status".to_owned(),
    })?;
    std::fs::create_dir(made).map_err(|error| ToolError {
        ran: format!("create {}", made.display()),
        said: error.to_string(),
    })?;
    cache::write(&made.join("mpif.h"), fortran::header(mpif))?;
    cache::write(&scratch.join("modules.f90"), modules)?;
    let mut compile = Command::new(compiler);
    compile.current_dir(scratch).args(["-O1", "-fPIC", "-c", "modules.f90", "-o", "modules.o"]);
    compile.arg("-I").arg(made).arg("-module-dir").arg(made);
    tool::run(&mut compile, b"", LIMIT)?.ok()?;
    let mut archive = Command::new("ar");
    archive.current_dir(scratch).arg("rcs").arg(made.join(CALLS)).arg("modules.o");
    for (at, text) in calls.iter().enumerate() {
        let (source, object) = (format!("calls{at}.c"), format!("calls{at}.o"));
        cache::write(&scratch.join(&source), text)?;
        let mut compile = Command::new(plugin::any_clang()?);
        compile.current_dir(scratch).args(["-O2", "-fPIC", "-c", &source, "-o", &object]);
        tool::run(&mut compile, b"", LIMIT)?.ok()?;
        archive.arg(object);
    }
    tool::run(&mut archive, b"", LIMIT)?.ok()?;
    Ok(())
}
