//! Fortran by way of the modules `mpi` and `mpi_f08`, which flang cannot read as gfortran made them,
//! and of `mpif.h`: programs print what gfortran's build by the library's own files prints.

use crate::support;

use std::path::{Path, PathBuf};
use std::process::Command;

use measure::tool;
use overlap::llvm::Llvm;
use overlap::mpi::Language;
use overlap::{Mpi, Settings, remarks};

/// Programs, and how many lines two processes print.
const PROGRAMS: [(&str, usize); 3] = [("old.f90", 22), ("f08.f90", 21), ("fixed.f", 2)];

fn source(name: &str) -> String {
    support::root().join("systems/overlap/tests/fortran").join(name).display().to_string()
}

/// The lines that two processes print, sorted.
fn printed(mpi: Mpi, program: &Path) -> Vec<String> {
    let mut lines: Vec<String> =
        support::output(mpi, 2, program, &[]).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// The flangs that are here.
fn flangs() -> Vec<Llvm> {
    let (there, missing): (Vec<Llvm>, Vec<Llvm>) = Llvm::ALL
        .into_iter()
        .partition(|llvm| llvm.builds() && tool::find(llvm.compiler(Language::Fortran)).is_some());
    for llvm in missing {
        support::skip(&format!("overlap Fortran: flang of LLVM {} is missing", llvm.number()));
    }
    there
}

/// The program as a user of the library alone builds it.
fn by_gfortran(mpi: Mpi, name: &str, folder: &Path) -> PathBuf {
    let program = folder.join("expected");
    let mut command = Command::new(mpi.wrapper(Language::Fortran).expect("the wrapper is here"));
    command.current_dir(folder).env(mpi.compiler_variable(Language::Fortran), "gfortran");
    command.args(["-O1", &source(name), "-o"]).arg(&program);
    tool::run(&mut command, b"", support::LIMIT)
        .and_then(tool::Ran::ok)
        .unwrap_or_else(|error| panic!("{error}"));
    program
}

#[test]
fn modules_do_what_those_of_the_library_do() {
    if tool::find("gfortran").is_none() {
        return support::skip("overlap Fortran: gfortran is missing");
    }
    let everything = Settings {
        min_bytes: Some(0),
        min_weight: Some(1),
        poll_us: Some(1),
        ..Settings::default()
    };
    let ways = [("-O2", Settings::default()), ("-O2", everything), ("-O0", Settings::default())];
    for mpi in support::libraries("Fortran") {
        for (name, n_lines) in PROGRAMS {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let expected = printed(mpi, &by_gfortran(mpi, name, folder.path()));
            assert_eq!(expected.len(), n_lines, "{expected:?}");
            for llvm in flangs() {
                for (level, settings) in &ways {
                    let program = folder.path().join("program");
                    let path = program.display().to_string();
                    support::compile_by(
                        llvm,
                        mpi,
                        Language::Fortran,
                        settings,
                        &[level, "-g", &source(name), "-o", &path],
                    );
                    assert_eq!(
                        printed(mpi, &program),
                        expected,
                        "{name} {level} {} {}",
                        mpi.name(),
                        llvm.number()
                    );
                }
            }
        }
    }
}

#[test]
fn calls_by_way_of_modules_are_converted() {
    for mpi in support::libraries("Fortran") {
        for (name, line) in [("old.f90", 71), ("f08.f90", 86)] {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let object = folder.path().join("a.o").display().to_string();
            support::compile_with(
                mpi,
                Language::Fortran,
                &Settings::default(),
                &["-O2", "-g", "-c", &source(name), "-o", &object],
            );
            let record = folder.path().join(".overlap/a.o.opt.yaml");
            let text = std::fs::read_to_string(record).expect("there are remarks");
            let rows = remarks::parse(&text).expect("these are remarks");
            assert!(
                rows.iter().any(|row| row.converted && row.line == line),
                "{name} {}: {rows:?}",
                mpi.name()
            );
            // Nothing but what only our modules have is left of them.
            let left: Vec<String> = support::symbols(Path::new(&object))
                .into_iter()
                .filter(|symbol| symbol.starts_with("overlap_mpi_"))
                .collect();
            assert!(
                left.iter().all(|symbol| symbol.starts_with("overlap_mpi_sizeof_")),
                "{left:?}"
            );
        }
    }
}
