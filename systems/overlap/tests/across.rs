//! An exchange, the work behind it and their caller in three files, each compiled by itself: what
//! is printed is the same, whichever of them the plugin sees.

mod support;

use std::path::Path;

use overlap::mpi::Language;
use overlap::{Mpi, Settings};

/// Which files the plugin sees, how else they are compiled, and how messages are sent.
type Way = (&'static [&'static str], &'static [&'static str], &'static str);

const WAYS: [Way; 6] = [
    (&["main.c", "exchange.c", "product.c"], &[], "nonblocking"),
    (&["main.c", "exchange.c"], &[], "blocking"),
    (&["exchange.c", "product.c"], &[], "blocking"),
    (&["main.c", "product.c"], &[], "blocking"),
    // Another library may have the function in its place.
    (&["main.c", "exchange.c", "product.c"], &["-fPIC"], "blocking"),
    (&["main.c", "exchange.c", "product.c"], &["-fPIC", "-fvisibility=hidden"], "nonblocking"),
];

/// The lines of a program of which the plugin sees `seen`.
fn printed(mpi: Mpi, seen: &[&str], flags: &[&str], folder: &Path) -> Vec<String> {
    let sources = support::root().join("systems/overlap/tests/across");
    let settings = Settings::default();
    let mut objects = Vec::new();
    for name in ["main.c", "exchange.c", "product.c", "counted.c"] {
        let source = sources.join(name).display().to_string();
        let object = folder.join(name).with_extension("o").display().to_string();
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
    if seen.is_empty() {
        support::compile_plain(mpi, Language::C, &words);
    } else {
        support::compile_with(mpi, Language::C, &settings, &words);
    }
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
        let mut expected = printed(mpi, &[], flags, folder.path());
        let lines = printed(mpi, seen, flags, folder.path());
        let at = expected.iter().position(|line| line == "sent blocking").expect("as it is");
        expected[at] = format!("sent {sent}");
        expected.sort();
        assert_eq!(lines, expected, "{seen:?} {flags:?} with {}", mpi.name());
    });
}
