//! Loops whose passes that fill a message run first: results are those of the program alone,
//! wherever messages lie, and messages do go first. MEANWHILE_OVERLAP_LAYOUTS sets how many layouts
//! are run (1400), MEANWHILE_OVERLAP_SEED the first seed (1).

use crate::support;

use std::path::{Path, PathBuf};

use measure::tool;
use overlap::{Mpi, Settings};

/// The program `name` of `tests/first`, with the plugin or without it.
fn build(
    mpi: Mpi,
    name: &str,
    flags: &[&str],
    settings: Option<&Settings>,
    folder: &Path,
) -> PathBuf {
    support::build(mpi, &format!("first/{name}"), flags, settings, folder)
}

/// Loops of `program` that have passes to run first.
fn loops(program: &Path) -> usize {
    support::symbols(program).iter().filter(|symbol| symbol.contains(".passes")).count()
}

/// Prints the same as the program alone, and has `least` such loops.
fn is_the_same(mpi: Mpi, name: &str, flags: &[&str], arguments: &[&str], least: usize) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    // Every message counts, however small.
    let settings = Settings { min_bytes: Some(0), ..Settings::default() };
    let alone = build(mpi, name, flags, None, folder.path());
    let with = build(mpi, name, flags, Some(&settings), folder.path());
    assert!(loops(&with) >= least, "{name} {flags:?} with {}: {}", mpi.name(), loops(&with));
    let lines = |program: &Path| {
        support::output(mpi, 2, program, arguments).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (expected, printed) = (lines(&alone), lines(&with));
    assert!(expected.len() > 10, "{name}: {expected:?}");
    let differ: Vec<_> = expected.iter().zip(&printed).filter(|(a, b)| a != b).take(5).collect();
    assert!(
        expected.len() == printed.len() && differ.is_empty(),
        "{name} {flags:?} with {}: {differ:?}",
        mpi.name()
    );
}

#[test]
fn messages_may_lie_anywhere() {
    let first = support::number("MEANWHILE_OVERLAP_SEED", 1).to_string();
    let count = support::number("MEANWHILE_OVERLAP_LAYOUTS", 1400).to_string();
    let flags = [&["-O1", "-lm"][..], &["-O2", "-flto", "-lm"], &["-O3", "-march=native", "-lm"]];
    support::each(support::in_turn("loops that fill messages", flags), |(mpi, flags)| {
        is_the_same(mpi, "anywhere.c", flags, &[&first, &count], 12);
    });
}

#[test]
fn dummy_arguments_are_apart() {
    if tool::find("flang-new-19").is_none() {
        support::skip("overlap loops that fill messages, in Fortran: flang-new-19 is missing");
        return;
    }
    let flags = [
        &["-cpp", "-O1"][..],
        &["-cpp", "-O2", "-flto", "-DOUTSIDE"],
        &["-cpp", "-O3", "-DOUTSIDE"],
    ];
    support::each(
        support::in_turn("loops that fill messages, in Fortran", flags),
        |(mpi, flags)| {
            is_the_same(mpi, "dummies.f90", flags, &[], 1);
        },
    );
}

#[test]
fn a_message_goes_before_the_rest_of_its_loop() {
    for mpi in support::libraries("loops that fill messages") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let run = |settings: Option<&Settings>| {
            let program = build(mpi, "goes-first.c", &["-O2", "-lm"], settings, folder.path());
            let shared = folder.path().join("shared");
            let _ = std::fs::remove_file(&shared);
            let printed = support::output(mpi, 2, &program, &[shared.to_str().expect("text")]);
            let mut lines: Vec<String> =
                printed.lines().map(|line| line.trim().to_owned()).collect();
            lines.sort();
            lines
        };
        let (alone, with) = (run(None), run(Some(&Settings::default())));
        assert_eq!(alone[2], "the loop went first", "alone with {}", mpi.name());
        assert_eq!(with[2], "the message went first", "with {}", mpi.name());
        assert_eq!(alone[..2], with[..2]);
    }
}
