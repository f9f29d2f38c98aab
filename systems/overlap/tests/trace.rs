//! Which programs can be traced: those that load MPI as a shared library, however they come to it.

use crate::support;

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

/// Long broadcasts that nothing overlaps, a short one, and a form whose length only its root knows.
const BROADCASTS: &str = "#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  enum { N = 1 << 18 };
  double *a = calloc(2 * N, sizeof *a);
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 5; i++)
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(a, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Gather(a, 10, MPI_DOUBLE, a + N, 10, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
";

/// `text` as the file `name`, and its path.
fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a scratch file");
    path.to_str().expect("text").to_owned()
}

fn traced(mpi: Mpi, program: &str) -> Result<Trace, tool::ToolError> {
    traced_as(mpi, 2, &[program])
}

/// So many ranks of the first word, and what the other words say.
fn traced_as(mpi: Mpi, ranks: u32, words: &[&str]) -> Result<Trace, tool::ToolError> {
    let launcher = mpi.launcher(ranks).expect("the launcher is here");
    let first = std::iter::once(launcher.get_program())
        .chain(launcher.get_args())
        .map(|once| once.to_string_lossy().into_owned());
    let all: Vec<String> = first.chain(words.iter().map(|&word| word.to_owned())).collect();
    trace::run(&all, Wanted { quiet: true, events: false })
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

#[test]
fn collectives_say_how_they_started_and_why() {
    for mpi in support::libraries("trace") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = folder.path();
        let source = write(at, "p.c", BROADCASTS);
        let place = |name: &str| at.join(name).display().to_string();
        let (ours, plain) = (place("ours"), place("plain"));
        let settings = overlap::Settings::default();
        support::compile_with(mpi, Language::C, &settings, &["-g", &source, "-o", &ours]);
        support::compile_plain(mpi, Language::C, &["-g", &source, "-o", &plain]);

        let all = traced(mpi, &ours).unwrap_or_else(|error| panic!("{error}"));
        let said = all.agreement.clone().expect("the ranks were asked");
        assert!(said.agreed, "{said:?}");
        let found = all.collectives();
        assert_eq!((found.sites, found.nonblocking_sites), (3, 1), "{:?}", all.rows);
        assert_eq!((found.executions, found.nonblocking), (14, 10), "{:?}", all.rows);

        let mixed = [&ours, ":", "-n", "1", &plain];
        let one = traced_as(mpi, 1, &mixed).unwrap_or_else(|error| panic!("{error}"));
        let said = one.agreement.clone().expect("a rank was asked");
        assert!(
            !said.agreed && said.said.contains("rank 1 was linked without overlap"),
            "{said:?}"
        );
        assert_eq!(one.collectives().nonblocking, 0);

        let none = traced(mpi, &plain).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(none.agreement, None);
        assert_eq!(none.collectives().executions, 14);
    }
}
