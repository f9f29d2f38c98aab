//! Programs that break if one fact about MPI, C or Fortran is forgotten: `tests/hazards`, each says
//! which. They print the same with and without the plugin, with one library each in turn;
//! MEANWHILE_LONG=1 tries each with both, and every conversion, also where there is nothing that it
//! could change. Some are two files in one, divided by SECOND_FILE.

use crate::support;

use std::path::{Path, PathBuf};

use overlap::Mpi;
use overlap::Settings;

/// What of a program the plugin sees.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    File,
    /// The first of two files.
    First,
    /// The whole program, at link time.
    Whole,
}

/// Name, processes, what the plugin sees.
const PROGRAMS: [(&str, u32, Seen); 45] = [
    ("blocking-cycle-with-two-entries.c", 2, Seen::File),
    ("bottom-in-a-sendrecv.f90", 2, Seen::File),
    ("count-grows.c", 2, Seen::File),
    ("count-shrinks-own-request.c", 2, Seen::File),
    ("count-shrinks.c", 2, Seen::File),
    ("count-written-by-mpi.f90", 2, Seen::File),
    ("counted-again.c", 2, Seen::File),
    ("counted-on-some-ways.c", 2, Seen::File),
    ("cycle-with-two-entries.c", 2, Seen::File),
    ("delete-is-replaced.cpp", 2, Seen::First),
    ("exchange-in-a-function.c", 2, Seen::File),
    ("fewer-ended-than-started.c", 2, Seen::File),
    ("frees-what-it-receives.c", 2, Seen::File),
    ("function-in-a-variable.c", 2, Seen::First),
    ("handler-throws-to-a-caller.cpp", 2, Seen::First),
    ("handler-throws.cpp", 2, Seen::First),
    ("labels-of-a-switch.c", 2, Seen::File),
    ("nobody-sends.c", 3, Seen::File),
    ("nobody-sends.f90", 2, Seen::File),
    ("overwrites-what-it-sends.c", 2, Seen::File),
    ("rank-in-the-environment.c", 2, Seen::File),
    ("reads-and-writes-by-another-way.c", 2, Seen::File),
    ("receives-again-into-it.c", 2, Seen::File),
    ("receives-into-another-array.c", 2, Seen::File),
    ("receives-its-indices.c", 2, Seen::File),
    ("requests-among-members.c", 2, Seen::File),
    ("requests-become-numbers.c", 2, Seen::File),
    ("sends-what-it-has-received.c", 3, Seen::File),
    ("sentinels.f90", 2, Seen::File),
    ("sign-of-gamma.c", 2, Seen::File),
    ("size-known-to-one-rank.c", 2, Seen::File),
    ("size-of-a-type-of-one-rank.c", 2, Seen::File),
    ("status-of-any.c", 2, Seen::File),
    ("struct-by-value.c", 2, Seen::File),
    ("table-of-labels.c", 2, Seen::File),
    ("test-of-the-program.c", 2, Seen::Whole),
    ("time-is-not-the-same.f90", 2, Seen::File),
    ("type-in-a-common-block.f90", 2, Seen::File),
    ("type-in-a-variable.c", 2, Seen::File),
    ("type-known-to-one-rank.c", 2, Seen::Whole),
    ("wait-of-the-pass-before.c", 2, Seen::File),
    ("wait-of-the-program.c", 2, Seen::Whole),
    ("weak-function.c", 2, Seen::First),
    ("wildcard-as-a-long.c", 3, Seen::Whole),
    ("wildcards-in-an-array.c", 3, Seen::File),
];

/// The program `name`, with or without the plugin, which converts as `convert` says.
fn build(mpi: Mpi, name: &str, seen: Seen, convert: Option<&str>, folder: &Path) -> PathBuf {
    let language = support::language(name);
    let source = support::root().join("systems/overlap/tests/hazards").join(name);
    let source = source.to_str().expect("text");
    let by_plugin = convert.is_some();
    let settings =
        Settings { convert: convert.unwrap_or_default().to_owned(), ..Settings::default() };
    let place = |what: &str| {
        folder
            .join(format!("{}{what}", convert.unwrap_or("plain")))
            .to_str()
            .expect("text")
            .to_owned()
    };
    let compile = |by_plugin: bool, words: &[&str]| {
        if by_plugin {
            support::compile_with(mpi, language, &settings, words);
        } else {
            support::compile_plain(mpi, language, words);
        }
    };
    let whole = by_plugin && seen == Seen::Whole;
    let (program, second) = (place(""), place("-second.o"));
    let mut words = vec!["-O2", source, "-o", &program, "-lm"];
    if whole {
        words.extend(["-flto", "-fvisibility=hidden"]);
    }
    if std::fs::read_to_string(source).expect("text").contains("SECOND_FILE") {
        let half = ["-O2", "-DSECOND_FILE", "-c", source, "-o", &second, "-flto"];
        compile(whole, if whole { &half } else { &half[..6] });
        words.push(&second);
    }
    compile(by_plugin, &words);
    program.into()
}

/// True if the program starts messages and waits for them itself.
fn has_requests(name: &str) -> bool {
    let text =
        std::fs::read_to_string(support::root().join("systems/overlap/tests/hazards").join(name))
            .expect("text")
            .to_lowercase();
    ["mpi_isend", "mpi_irecv", "mpi_start"].iter().any(|word| text.contains(word))
}

/// The lines that the processes print, in any order.
fn printed(mpi: Mpi, ranks: u32, program: &Path) -> Vec<String> {
    let mut lines: Vec<String> =
        support::output(mpi, ranks, program, &[]).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn every_program_of_the_folder_is_run() {
    let folder = support::root().join("systems/overlap/tests/hazards");
    let mut there: Vec<String> = folder
        .read_dir()
        .expect("the folder is there")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    there.sort();
    assert_eq!(there, PROGRAMS.map(|program| program.0));
}

#[test]
fn hazards_print_the_same() {
    let cases = support::in_turn("hazards", PROGRAMS);
    let is_long = std::env::var_os("MEANWHILE_LONG").is_some();
    support::each(cases, |(mpi, (name, ranks, seen))| {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let expected = printed(mpi, ranks, &build(mpi, name, seen, None, folder.path()));
        assert!(!expected.is_empty(), "{name} prints something");
        // Where no call changes only requests of the program's own can be moved.
        let can_move = |convert: &str| convert != "none" || is_long || has_requests(name);
        for convert in
            overlap::settings::CONVERSIONS.into_iter().filter(|conversion| can_move(conversion))
        {
            let program = build(mpi, name, seen, Some(convert), folder.path());
            assert_eq!(
                printed(mpi, ranks, &program),
                expected,
                "{name} with {}, {convert}",
                mpi.name()
            );
        }
    });
}
