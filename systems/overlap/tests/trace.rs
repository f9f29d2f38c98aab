//! Which programs can be traced: those that load MPI as a shared library, however they come to it.

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use measure::tool;
use overlap::Mpi;
use overlap::mpi::Language;
use overlap::trace::{self, Trace, Wanted};

const UP: &str = "#include <mpi.h>
void up(int *argc, char ***argv) { MPI_Init(argc, argv); }
double sum(double a) { double all; MPI_Allreduce(&a, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); return all; }
void down(void) { MPI_Finalize(); }
";

/// Calls MPI itself, and leaves its beginning and its end to a library.
const CALLS: &str = "#include <mpi.h>
void up(int *, char ***); double sum(double); void down(void);
int main(int argc, char **argv) { up(&argc, &argv); MPI_Barrier(MPI_COMM_WORLD); down(); return 0; }
";

/// Knows nothing of MPI.
const KNOWS_NOTHING: &str = "void up(int *, char ***); double sum(double); void down(void);
int main(int argc, char **argv) { up(&argc, &argv); int bad = sum(1) != 2; down(); return bad; }
";

const THREADS: &str = "program p
  include 'mpif.h'
  integer :: level, code
  double precision :: a(100)
  a = 1
  call MPI_INIT_THREAD(MPI_THREAD_FUNNELED, level, code)
  call MPI_BCAST(a, 100, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, code)
  call MPI_FINALIZE(code)
end program
";

/// `text` as the file `name`, and its path.
fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a scratch file");
    path.to_str().expect("text").to_owned()
}

fn traced(mpi: Mpi, program: &str) -> Result<Trace, tool::ToolError> {
    let launcher = mpi.launcher(2).expect("the launcher is here");
    let words = std::iter::once(launcher.get_program())
        .chain(launcher.get_args())
        .map(|once| once.to_string_lossy().into_owned());
    trace::run(
        &words.chain([program.to_owned()]).collect::<Vec<_>>(),
        Wanted { quiet: true, events: false },
    )
}

/// The calls that were seen.
fn calls(trace: &Trace) -> Vec<&str> {
    let mut names: Vec<&str> = trace.rows.iter().map(|row| row.call.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[test]
fn programs_of_fortran_that_ask_for_a_level_of_threads() {
    for mpi in support::libraries("trace") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let program = folder.path().join("p").display().to_string();
        let source = write(folder.path(), "p.f90", THREADS);
        support::compile_plain(mpi, Language::Fortran, &["-O1", &source, "-o", &program]);
        let trace = traced(mpi, &program).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((trace.mpi, trace.ranks, calls(&trace)), (mpi, 2, vec!["MPI_Bcast"]));
    }
}

#[test]
fn programs_whose_library_begins_and_ends() {
    for mpi in support::libraries("trace") {
        for (text, expected) in [(CALLS, "MPI_Barrier"), (KNOWS_NOTHING, "MPI_Allreduce")] {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let at = folder.path();
            let place = |name: &str| at.join(name).display().to_string();
            let (library, program) = (place("libup.so"), place("app"));
            support::compile_plain(
                mpi,
                Language::C,
                &["-O1", "-shared", "-fPIC", &write(at, "up.c", UP), "-o", &library],
            );
            let found = format!("-Wl,-rpath,{}", at.display());
            let source = write(at, "app.c", text);
            let words = ["-O1", &source, "-o", &program, &found];
            if text == CALLS {
                support::compile_plain(
                    mpi,
                    Language::C,
                    &[&words[..], &[&format!("-L{}", at.display()), "-lup"]].concat(),
                );
            } else {
                // The program names the library by its path then.
                let ran = tool::run(
                    Command::new("clang-19").args(words).arg(&library),
                    b"",
                    support::LIMIT,
                );
                ran.and_then(tool::Ran::ok).unwrap_or_else(|error| panic!("{error}"));
            }
            let trace = traced(mpi, &program).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((trace.mpi, trace.ranks, calls(&trace)), (mpi, 2, vec![expected]));
        }
    }
}

#[test]
fn a_script_starts_the_program() {
    for mpi in support::libraries("trace") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = folder.path();
        let program = at.join("p").display().to_string();
        let source = write(at, "p.f90", THREADS);
        support::compile_plain(mpi, Language::Fortran, &["-O1", &source, "-o", &program]);
        for text in [
            format!("#!/bin/sh\n# not /bin/true\nexport A=1; exec '{program}' \"$@\"\n"),
            "#!/bin/sh\n\"$(dirname $0)/p\"\n".to_owned(),
        ] {
            let script = write(at, "run.sh", &text);
            let made = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&script, made).expect("ours");
            let trace = traced(mpi, &script).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((trace.mpi, trace.ranks, calls(&trace)), (mpi, 2, vec!["MPI_Bcast"]));
        }
    }
}

#[test]
fn other_programs_are_refused() {
    for mpi in support::libraries("trace") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let script = write(folder.path(), "run.sh", "#!/bin/sh\nexec true\n");
        for program in ["true", &script, "-n"] {
            let said = traced(mpi, program).expect_err("none of them is one of MPI").said;
            assert!(
                said.contains("none of these words is a program linked with OpenMPI or MPICH"),
                "{program}: {said}"
            );
        }
    }
}
