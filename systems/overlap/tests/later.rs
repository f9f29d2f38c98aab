//! Messages whose ends are put off, and loops that go on without them: results are those of the
//! program alone, wherever arrays lie, and loops do go on. MEANWHILE_OVERLAP_LAYOUTS sets how many
//! layouts of arrays are run (200), MEANWHILE_OVERLAP_SEED the first seed (1).

use crate::support;

use std::path::{Path, PathBuf};

use measure::tool;
use overlap::trace::{self, Wanted};
use overlap::{Mpi, Settings};

/// The program `name` of `tests/later`, with the plugin or without it.
fn build(
    mpi: Mpi,
    name: &str,
    flags: &[&str],
    settings: Option<&Settings>,
    folder: &Path,
) -> PathBuf {
    support::build(mpi, &format!("later/{name}"), flags, settings, folder)
}

/// Loops of `program` that defer passes.
fn deferring_loops(program: &Path) -> usize {
    support::symbols(program).iter().filter(|symbol| symbol.contains(".look")).count()
}

#[test]
fn arrays_may_lie_anywhere() {
    let first = support::number("MEANWHILE_OVERLAP_SEED", 1).to_string();
    let count = support::number("MEANWHILE_OVERLAP_LAYOUTS", 200).to_string();
    let flags = [&["-O1"][..], &["-O2", "-flto"], &["-O3", "-march=native"]];
    for (mpi, flags) in support::in_turn("deferred passes", flags) {
        let folder = tempfile::tempdir().expect("a scratch folder");
        // Every message counts, however small.
        let settings = Settings { min_bytes: Some(0), ..Settings::default() };
        let alone = build(mpi, "anywhere.c", flags, None, folder.path());
        let with = build(mpi, "anywhere.c", flags, Some(&settings), folder.path());
        assert!(
            deferring_loops(&with) >= 6,
            "{flags:?} with {}: {}",
            mpi.name(),
            deferring_loops(&with)
        );
        let lines = |program: &Path| {
            let mut lines: Vec<String> = support::output(mpi, 2, program, &[&first, &count])
                .lines()
                .map(str::to_owned)
                .collect();
            lines.sort();
            lines
        };
        let (expected, printed) = (lines(&alone), lines(&with));
        let differ: Vec<_> =
            expected.iter().zip(&printed).filter(|(a, b)| a != b).take(5).collect();
        assert!(
            expected.len() == printed.len() && differ.is_empty(),
            "{flags:?} with {}: {differ:?}",
            mpi.name()
        );
    }
}

/// What was put off is counted as ended when it is.
#[test]
fn no_question_comes_behind_the_last_message() {
    for mpi in support::libraries("questions behind deferred passes") {
        for flags in [&["-O2"][..], &["-O3", "-flto"]] {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let settings =
                Settings { min_bytes: Some(1000), poll_us: Some(1), ..Settings::default() };
            let alone = build(mpi, "all-ended.c", flags, None, folder.path());
            let with = build(mpi, "all-ended.c", flags, Some(&settings), folder.path());
            assert!(deferring_loops(&with) >= 1, "{flags:?} with {}", mpi.name());
            let outputs = [&alone, &with].map(|it| support::output(mpi, 2, it, &[]));
            assert!(
                outputs[0].starts_with("quiet") && outputs[1] == outputs[0],
                "{flags:?} with {}: {outputs:?}",
                mpi.name()
            );
        }
    }
}

#[test]
fn rows_of_a_class_with_vectors() {
    let flags = [&["-O2"][..], &["-O3"], &["-O2", "-flto"], &["-O3", "-flto", "-march=native"]];
    for (mpi, flags) in support::in_turn("deferred passes of classes", flags) {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let settings = Settings { min_bytes: Some(0), ..Settings::default() };
        let alone = build(mpi, "rows.cpp", flags, None, folder.path());
        let with = build(mpi, "rows.cpp", flags, Some(&settings), folder.path());
        assert!(deferring_loops(&with) >= 1, "{flags:?} with {}", mpi.name());
        let outputs = [&alone, &with].map(|it| support::output(mpi, 2, it, &[]));
        assert_eq!(outputs[1], outputs[0], "{flags:?} with {}", mpi.name());
    }
}

#[test]
fn a_loop_goes_on_without_its_halo() {
    for mpi in support::libraries("deferred passes") {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let run = |program: &Path| {
            let shared = folder.path().join("shared");
            let _ = std::fs::remove_file(&shared);
            let mut command = mpi.launcher(2).expect("the launcher is here");
            command.arg(program).arg(&shared);
            let ran = tool::run(&mut command, b"", support::LIMIT)
                .and_then(tool::Ran::ok)
                .unwrap_or_else(|error| panic!("{error}"));
            let mut lines: Vec<String> =
                ran.text().lines().map(|line| line.trim().to_owned()).collect();
            lines.sort();
            lines
        };
        let alone = run(&build(mpi, "goes-on.c", &["-O2"], None, folder.path()));
        let with =
            run(&build(mpi, "goes-on.c", &["-O2"], Some(&Settings::default()), folder.path()));
        assert_eq!(alone[2], "stood still", "alone with {}", mpi.name());
        assert_eq!(with[2], "went on", "with {}", mpi.name());
        assert_eq!(alone[..2], with[..2]);
    }
}

#[test]
fn a_trace_sees_the_window_of_a_deferring_loop() {
    let source =
        std::fs::read_to_string(support::root().join("systems/overlap/tests/later/goes-on.c"))
            .expect("the program is there");
    let line =
        source.lines().position(|line| line.contains("MPI_Wait(")).expect("it waits") as u64 + 1;
    for mpi in support::libraries("deferred passes") {
        for progress in ["on", "off"] {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let settings = Settings { progress: progress.to_owned(), ..Settings::default() };
            let program = build(mpi, "goes-on.c", &["-O2", "-g"], Some(&settings), folder.path());
            let launcher = mpi.launcher(2).expect("the launcher is here");
            let words = std::iter::once(launcher.get_program())
                .chain(launcher.get_args())
                .map(|once| once.to_string_lossy().into_owned());
            let own =
                [program, folder.path().join("shared")].map(|path| path.display().to_string());
            let words: Vec<String> = words.chain(own).collect();
            let trace = trace::run(&words, Wanted { quiet: true, events: false })
                .unwrap_or_else(|error| panic!("{error}"));
            let sites = trace.sites();
            assert_eq!(sites.len(), 1, "{}: {sites:?}", mpi.name());
            assert_eq!(
                (sites[0].call.as_str(), sites[0].line),
                ("MPI_Wait", line),
                "{}: {sites:?}",
                mpi.name()
            );
            assert!(sites[0].window_us > trace::SIGNIFICANT_US, "{}: {sites:?}", mpi.name());
            let asks = trace
                .rows
                .iter()
                .any(|row| row.call == "MPI_Test" && row.function == "__overlap_later_passes");
            assert_eq!(asks, progress == "on", "{}, {progress}: {:?}", mpi.name(), trace.rows);
        }
    }
}
