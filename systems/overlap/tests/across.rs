//! An exchange, the work behind it and their caller in three files, each compiled by itself: what
//! is printed is the same, whichever of them the plugin sees.

use crate::support;

use std::path::Path;

use overlap::mpi::Language;
use overlap::{Mpi, Settings};

/// Which files the plugin sees, how else they are compiled, and how messages are sent.
type Way = (&'static [&'static str], &'static [&'static str], &'static str);

const WAYS: [Way; 7] = [
    (ALL, &[], "nonblocking"),
    (&["main.c", "exchange.c"], &[], "blocking"),
    (&["exchange.c", "product.c"], &[], "blocking"),
    (&["main.c", "product.c"], &[], "blocking"),
    // Nobody leaves it anything.
    (&["product.c"], &[], "blocking"),
    // Another library may have the function in its place.
    (ALL, &["-fPIC"], "blocking"),
    (ALL, &["-fPIC", "-fvisibility=hidden"], "nonblocking"),
];

const ALL: &[&str] = &["main.c", "exchange.c", "product.c"];

/// The lines of a program of `files`, of which the plugin sees `seen`.
fn printed(
    mpi: Mpi,
    files: &[&str],
    seen: &[&str],
    flags: &[&str],
    at_link: &[&str],
    folder: &Path,
) -> Vec<String> {
    let sources = support::root().join("systems/overlap/tests/across");
    let settings = Settings::default();
    let mut objects = Vec::new();
    for &name in files.iter().chain(&["counted.c"]) {
        let source = sources.join(name).display().to_string();
        let object = folder.join(name.replace('/', "-")).with_extension("o");
        let object = object.display().to_string();
        let words = [&["-O2", "-c", &source, "-o", &object], flags].concat();
        if seen.contains(&name) {
            support::compile_with(mpi, Language::C, &settings, &words);
        } else {
            support::compile_plain(mpi, Language::C, &words);
        }
        objects.push(object);
    }
    let program = folder.join("program").display().to_string();
    let mut words: Vec<&str> = objects.iter().map(String::as_str).collect();
    words.extend(["-o", &program]);
    words.extend(at_link);
    if seen.is_empty() {
        support::compile_plain(mpi, Language::C, &words);
    } else {
        support::compile_with(mpi, Language::C, &settings, &words);
    }
    let off = folder.join(".overlap/program.overlap-off");
    assert!(!off.exists(), "{seen:?}: no call of this program keeps the others blocking");
    let text = support::output(mpi, 2, Path::new(&program), &[]);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn three_files_print_the_same_and_overlap_where_all_take_part() {
    let cases = support::in_turn("across", WAYS.iter());
    support::each(cases, |(mpi, (seen, flags, sent))| {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let mut expected = printed(mpi, ALL, &[], flags, &[], folder.path());
        let lines = printed(mpi, ALL, seen, flags, &[], folder.path());
        let at = expected.iter().position(|line| line == "sent blocking").expect("as it is");
        expected[at] = format!("sent {sent}");
        expected.sort();
        assert_eq!(lines, expected, "{seen:?} {flags:?} with {}", mpi.name());
    });
}

/// Variables that are gone, copies that are made by a call, functions in the place of others: what
/// is sent stays blocking, as is what is printed.
#[test]
fn what_has_to_be_over_is_over_when_its_function_returns() {
    const KEPT: &[&str] =
        &["kept/main.c", "kept/exchange.c", "kept/product.c", "kept/strong.c", "kept/taken.c"];
    let cases = support::in_turn("across", ["-O2", "-O1"].iter());
    support::each(cases, |(mpi, level)| {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let with = |seen| {
            let wrap = ["-Wl,--wrap=wrapped"];
            printed(mpi, KEPT, seen, &["-w", level], &wrap, folder.path())
        };
        let expected = with(&[]);
        assert!(expected.contains(&"sent 0".to_owned()), "{expected:?}");
        for seen in [KEPT, &["kept/product.c"]] {
            assert_eq!(with(seen), expected, "{seen:?} {level} with {}", mpi.name());
        }
    });
}
