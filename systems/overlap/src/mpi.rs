//! Door: the two MPI libraries: their compiler wrappers and launchers.

use std::process::Command;
use std::time::Duration;

use measure::tool::{self, ToolError};

const ASK_LIMIT: Duration = Duration::from_secs(20);

/// A library that implements MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mpi {
    /// OpenMPI.
    OpenMpi,
    /// MPICH.
    Mpich,
}

/// A source language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cxx,
    /// Fortran.
    Fortran,
}

impl Mpi {
    /// Both.
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
        Err(ToolError { ran: suffixed, said: format!("there is no {} here: neither `{stem}.{}` nor `{stem}`", self.name(), self.name()) })
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

    /// What the wrapper adds to a command that compiles and links.
    pub fn flags(self, language: Language) -> Result<Vec<String>, ToolError> {
        let mut command = Command::new(self.wrapper(language)?);
        command.arg("-show");
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

/// Whose compiler wrapper `mpicc` is.
pub fn which(wrapper: &str) -> Result<Mpi, ToolError> {
    let mut command = Command::new(wrapper);
    command.arg("-show");
    let ran = tool::run(&mut command, b"", ASK_LIMIT)?.ok()?;
    let line = ran.text();
    if line.contains("mpich") {
        Ok(Mpi::Mpich)
    } else if line.contains("openmpi") || line.contains("-lmpi") {
        Ok(Mpi::OpenMpi)
    } else {
        Err(ToolError { ran: ran.command, said: format!("this is neither OpenMPI nor MPICH: {}", line.trim()) })
    }
}
