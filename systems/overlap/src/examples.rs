//! Door: the example programs, compiled to see what becomes of their calls.

use std::path::Path;

use measure::tool::ToolError;

use crate::compile::{self, Request};
use crate::mpi::{Language, Mpi};
use crate::remarks::{self, Row};
use crate::settings::Settings;
use crate::trace::{self, Site};

/// File name, language and text of each program in `examples/mpi`.
pub const PROGRAMS: [(&str, Language, &str); 10] = [
    ("listing.c", Language::C, include_str!("../examples/mpi/listing.c")),
    ("halo.c", Language::C, include_str!("../examples/mpi/halo.c")),
    ("jacobi.c", Language::C, include_str!("../examples/mpi/jacobi.c")),
    ("ring.c", Language::C, include_str!("../examples/mpi/ring.c")),
    ("panels.c", Language::C, include_str!("../examples/mpi/panels.c")),
    ("md.c", Language::C, include_str!("../examples/mpi/md.c")),
    ("cg.cpp", Language::Cxx, include_str!("../examples/mpi/cg.cpp")),
    ("transpose.f90", Language::Fortran, include_str!("../examples/mpi/transpose.f90")),
    ("heat.f90", Language::Fortran, include_str!("../examples/mpi/heat.f90")),
    ("exchange.f90", Language::Fortran, include_str!("../examples/mpi/exchange.f90")),
];

/// Compiles one program to `folder` at -O2.
fn build(
    folder: &Path,
    mpi: Mpi,
    program: (&str, Language, &str),
    settings: &Settings,
) -> Result<(), ToolError> {
    let (name, language, text) = program;
    let failed =
        |error: std::io::Error| ToolError { ran: format!("write {name}"), said: error.to_string() };
    let source = folder.join(name);
    std::fs::write(&source, text).map_err(failed)?;
    let place = |ending: &str| folder.join(ending).display().to_string();
    let steps = [
        vec![
            "-O2".to_owned(),
            "-c".to_owned(),
            source.display().to_string(),
            "-o".to_owned(),
            place("program.o"),
        ],
        vec![place("program.o"), "-o".to_owned(), place("program")],
    ];
    for arguments in steps {
        let request = Request {
            language,
            mpi,
            settings,
            compiler: None,
            plugin: None,
            arguments: &arguments,
            folder: Some(folder),
        };
        let ended = compile::compile(&request)?;
        if !ended.ok {
            return Err(ended.failed());
        }
    }
    Ok(())
}

fn scratch() -> Result<measure::scratch::Folder, ToolError> {
    measure::scratch::folder().map_err(|error| ToolError {
        ran: "make a scratch folder".to_owned(),
        said: error.to_string(),
    })
}

/// The remarks of one program, with every payload counted as large.
///
/// Errors: if a compiler is missing or fails.
pub fn remarks_of(
    mpi: Mpi,
    program: (&str, Language, &str),
    strength: &str,
) -> Result<Vec<Row>, ToolError> {
    let folder = scratch()?;
    let settings =
        Settings { strength: strength.to_owned(), min_bytes: Some(0), ..Settings::default() };
    build(folder.path(), mpi, program, &settings)?;
    let path = folder.path().join(remarks::NOTES).join("program.o.opt.yaml");
    let failed = |said: String| ToolError { ran: format!("read {}", path.display()), said };
    let text = std::fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
    remarks::parse(&text).map_err(failed)
}

/// Listing 1.1, compiled with one strength and without polls.
#[derive(Debug)]
pub struct Listing {
    folder: measure::scratch::Folder,
    mpi: Mpi,
}

impl Listing {
    ///
    /// Errors: if a compiler is missing or fails.
    pub fn build(mpi: Mpi, strength: &str) -> Result<Listing, ToolError> {
        let folder = scratch()?;
        let settings = Settings {
            strength: strength.to_owned(),
            progress: "off".to_owned(),
            ..Settings::default()
        };
        build(folder.path(), mpi, PROGRAMS[0], &settings)?;
        Ok(Listing { folder, mpi })
    }

    /// The windows that a run on two ranks measures, means over `rounds` rounds;
    /// products take 2,500 us.
    ///
    /// Errors: if the launcher is missing or the run fails.
    pub fn windows(&self, rounds: u32) -> Result<Vec<Site>, ToolError> {
        let launcher = self.mpi.launcher(2)?;
        let mut words = vec![launcher.get_program().to_string_lossy().into_owned()];
        words.extend(launcher.get_args().map(|arg| arg.to_string_lossy().into_owned()));
        words.push(self.folder.path().join("program").display().to_string());
        words.extend(["1048576".to_owned(), "2500".to_owned(), rounds.to_string()]);
        Ok(trace::run(&words, trace::Wanted { quiet: true, events: false })?.sites())
    }
}
