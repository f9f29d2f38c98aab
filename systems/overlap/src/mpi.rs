//! Door: the two MPI libraries: their compiler wrappers and launchers.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use measure::tool::{self, ToolError};

/// On a machine that a build keeps busy, an answer took more than 20 s.
const ASK_LIMIT: Duration = Duration::from_secs(300);

/// Is set where a wrapper of MPI runs for us: it must not run us again.
pub const WITHIN: &str = "MEANWHILE_OVERLAP_WITHIN";

/// Is set by MPICH's wrappers below themselves.
pub(crate) const RECURSION: &str = "MPICH_RECURSION_CHECK";

/// Refuses to run where a wrapper runs for us.
///
/// Errors: if that is so.
pub fn refuse_within() -> Result<(), ToolError> {
    if std::env::var_os(WITHIN).is_none() {
        return Ok(());
    }
    Err(ToolError {
        ran: "meanwhile overlap".to_owned(),
        said: "MPI's compiler wrapper, or the compiler that it calls, is a script that runs meanwhile again; \
               put MPI's own wrapper first in PATH, and name a clang or flang with --compiler"
            .to_owned(),
    })
}

/// A library that implements MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mpi {
    OpenMpi,
    Mpich,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
}

impl Mpi {
    pub const ALL: [Mpi; 2] = [Mpi::OpenMpi, Mpi::Mpich];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Mpi::OpenMpi => "openmpi",
            Mpi::Mpich => "mpich",
        }
    }

    /// The library of this name.
    pub fn named(name: &str) -> Option<Mpi> {
        Mpi::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The program `stem` of this library: with its suffix where two libraries are installed side
    /// by side, else plain, if the plain one belongs to this library.
    pub fn program(self, stem: &str) -> Result<String, ToolError> {
        let suffixed = format!("{stem}.{}", self.name());
        if tool::find(&suffixed).is_some() {
            return Ok(suffixed);
        }
        if tool::find(stem).is_some() && which("mpicc")? == self {
            return Ok(stem.to_owned());
        }
        Err(ToolError {
            ran: suffixed,
            said: format!(
                "there is no {} here: neither `{stem}.{}` nor `{stem}`",
                self.name(),
                self.name()
            ),
        })
    }

    /// True if programs can be compiled and run with this library.
    pub fn present(self) -> bool {
        self.program("mpicc").is_ok() && self.program("mpirun").is_ok()
    }

    /// The compiler wrapper of a language.
    pub fn wrapper(self, language: Language) -> Result<String, ToolError> {
        self.program(match language {
            Language::C => "mpicc",
            Language::Cxx => "mpicxx",
            Language::Fortran => "mpifort",
        })
    }

    /// The variable that tells the wrapper which compiler to call.
    pub fn compiler_variable(self, language: Language) -> &'static str {
        match (self, language) {
            (Mpi::OpenMpi, Language::C) => "OMPI_CC",
            (Mpi::OpenMpi, Language::Cxx) => "OMPI_CXX",
            (Mpi::OpenMpi, Language::Fortran) => "OMPI_FC",
            (Mpi::Mpich, Language::C) => "MPICH_CC",
            (Mpi::Mpich, Language::Cxx) => "MPICH_CXX",
            (Mpi::Mpich, Language::Fortran) => "MPICH_FC",
        }
    }

    /// True if the wrapper of this library runs us, because `MPICH_CC` says so, and has added what
    /// is its own: MPICH's refuses to run below itself.
    pub fn runs_us(self) -> bool {
        self == Mpi::Mpich && std::env::var_os(RECURSION).is_some()
    }

    /// What the wrapper adds to a command that compiles and links.
    pub fn flags(self, language: Language) -> Result<Vec<String>, ToolError> {
        let mut command = Command::new(self.wrapper(language)?);
        // The wrapper may be running us.
        command.arg("-show").env(WITHIN, "1").env_remove(RECURSION);
        let ran = tool::run(&mut command, b"", ASK_LIMIT)?.ok()?;
        Ok(ran.text().split_whitespace().skip(1).map(str::to_owned).collect())
    }

    /// A launcher of `ranks` processes on this machine. It may start more processes than there are
    /// cores, and as root.
    pub fn launcher(self, ranks: u32) -> Result<Command, ToolError> {
        let mut command = Command::new(self.program("mpirun")?);
        if self == Mpi::OpenMpi {
            command.args(["--allow-run-as-root", "--oversubscribe"]);
        }
        command.args(["-n", &ranks.to_string()]);
        Ok(command)
    }
}

/// Whose `mpi.h` a command line finds in its folders of headers: where a wrapper of MPI has added
/// them, as it does for the compiler that `OMPI_CC` or `MPICH_CC` names.
pub fn of_headers(arguments: &[String]) -> Option<Mpi> {
    let behind = |idx: usize, word: &str| match word {
        "-I" | "-isystem" => arguments.get(idx + 1).cloned(),
        _ => word.strip_prefix("-I").map(str::to_owned),
    };
    let folders = arguments.iter().enumerate().filter_map(|(idx, word)| behind(idx, word));
    let header = folders
        .map(|folder| Path::new(&folder).join("mpi.h"))
        .find_map(|join| std::fs::read_to_string(join).ok())?;
    [("OMPI_MAJOR_VERSION", Mpi::OpenMpi), ("MPICH_VERSION", Mpi::Mpich)]
        .into_iter()
        .find(|pair| header.contains(pair.0))
        .map(|pair| pair.1)
}

/// Whose compiler wrapper `mpicc` is.
///
/// Errors: if it is missing, of another MPI, or runs us again.
pub fn which(wrapper: &str) -> Result<Mpi, ToolError> {
    refuse_within()?;
    let mut command = Command::new(wrapper);
    command.arg("-show").env(WITHIN, "1");
    let ran = tool::run(&mut command, b"", ASK_LIMIT)?.ok()?;
    let line = ran.text();
    if line.contains("mpich") {
        Ok(Mpi::Mpich)
    } else if line.contains("openmpi") || line.contains("-lmpi") {
        Ok(Mpi::OpenMpi)
    } else {
        Err(ToolError {
            ran: ran.command,
            said: format!("this is neither OpenMPI nor MPICH: {}", line.trim()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_tell_the_library() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        for (name, text) in [
            ("a", "#define OMPI_MAJOR_VERSION 4\n"),
            ("b", "#define MPICH_VERSION \"4.0\"\n"),
            ("openmpi", "int x;\n"),
        ] {
            std::fs::create_dir(path(name)).expect("a scratch folder");
            std::fs::write(folder.path().join(name).join("mpi.h"), text).expect("a scratch file");
        }
        let of = |words: &[String]| of_headers(words);
        assert_eq!(of(&[format!("-I{}", path("a")), "-c".to_owned()]), Some(Mpi::OpenMpi));
        assert_eq!(of(&["-isystem".to_owned(), path("b")]), Some(Mpi::Mpich));
        assert_eq!(
            of(&[
                "-I".to_owned(),
                path("none"),
                format!("-I{}", path("b")),
                format!("-I{}", path("a"))
            ]),
            Some(Mpi::Mpich)
        );
        assert_eq!(
            of(&[format!("-I{}", path("openmpi")), "-lmpi".to_owned(), "-I".to_owned()]),
            None
        );
    }
}
