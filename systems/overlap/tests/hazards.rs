//! Programs that break if one fact about MPI, C or Fortran is forgotten: `tests/hazards`, each says which. They print the
//! same with and without the plugin, on both libraries.

mod support;

use overlap::Mpi;
use overlap::Settings;
use overlap::mpi::Language;

/// Name, processes.
const PROGRAMS: [(&str, u32); 13] = [
    ("count-grows.c", 2),
    ("count-shrinks-own-request.c", 2),
    ("count-shrinks.c", 2),
    ("count-written-by-mpi.f90", 2),
    ("labels-of-a-switch.c", 2),
    ("rank-in-the-environment.c", 2),
    ("sign-of-gamma.c", 2),
    ("size-known-to-one-rank.c", 2),
    ("struct-by-value.c", 2),
    ("table-of-labels.c", 2),
    ("time-is-not-the-same.f90", 2),
    ("wait-of-the-pass-before.c", 2),
    ("wildcards-in-an-array.c", 3),
];

/// The lines that the processes print, in any order.
fn printed(mpi: Mpi, ranks: u32, program: &std::path::Path) -> Vec<String> {
    let mut lines: Vec<String> = support::output(mpi, ranks, program, &[]).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn every_program_of_the_folder_is_run() {
    let folder = support::root().join("systems/overlap/tests/hazards");
    let mut there: Vec<String> = folder
        .read_dir()
        .expect("the folder is there")
        .map(|it| it.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    there.sort();
    assert_eq!(there, PROGRAMS.map(|it| it.0));
}

#[test]
fn hazards_print_the_same() {
    for mpi in support::libraries("hazards") {
        for (name, ranks) in PROGRAMS {
            let language = if name.ends_with(".f90") { Language::Fortran } else { Language::C };
            let folder = tempfile::tempdir().expect("a scratch folder");
            let source = support::root().join("systems/overlap/tests/hazards").join(name);
            let [plain, converted] = ["plain", "converted"].map(|it| folder.path().join(it));
            let words = |into: &std::path::Path| {
                ["-O2", source.to_str().expect("text"), "-o", into.to_str().expect("text"), "-lm"].map(str::to_owned)
            };
            support::compile_plain(mpi, language, &words(&plain).each_ref().map(String::as_str));
            support::compile_with(mpi, language, &Settings::default(), &words(&converted).each_ref().map(String::as_str));
            let expected = printed(mpi, ranks, &plain);
            assert!(!expected.is_empty(), "{name} prints something");
            assert_eq!(printed(mpi, ranks, &converted), expected, "{name} with {}", mpi.name());
        }
    }
}
