//! C++ programs whose error handlers throw, made and set in another file or in a shared library,
//! see what they see without the plugin; where no handler throws, their calls start nonblocking.

use crate::support;

use std::path::Path;

use overlap::mpi::Language;
use overlap::{Mpi, Settings};

/// Compiles `arguments`, with the plugin or without it.
fn compile(mpi: Mpi, by_plugin: bool, arguments: &[&str]) {
    if by_plugin {
        support::compile_with(mpi, Language::Cxx, &Settings::default(), arguments);
    } else {
        support::compile_plain(mpi, Language::Cxx, arguments);
    }
}

/// What the ranks print, in any order, and how many receives each of them started.
fn printed(mpi: Mpi, by_plugin: bool, shared: bool, folder: &Path) -> (Vec<String>, Vec<String>) {
    let sources = support::root().join("systems/overlap/tests/handlers");
    let place = |name: &str| folder.join(name).to_str().expect("text").to_owned();
    let source = |name: &str| sources.join(name).to_str().expect("text").to_owned();
    let (program, library) = (place("program"), place("libsecond.so"));
    let (throws, second) = (source("throws.cpp"), source("second.cpp"));
    let mut words = vec!["-O2", throws.as_str(), "-o", program.as_str(), "-rdynamic"];
    let run_path = format!("-Wl,-rpath,{}", folder.display());
    if shared {
        compile(mpi, false, &["-O2", "-fPIC", "-shared", &second, "-o", &library]);
        words.extend([library.as_str(), run_path.as_str()]);
    } else {
        words.push(second.as_str());
    }
    compile(mpi, by_plugin, &words);
    let text = support::output(mpi, 2, Path::new(&program), &[]);
    let (mut started, mut lines): (Vec<String>, Vec<String>) =
        text.lines().map(str::to_owned).partition(|line| line.starts_with("started"));
    started.sort();
    lines.sort();
    (lines, started)
}

#[test]
fn a_handler_that_throws_sees_what_it_sees_without_the_plugin() {
    let cases = support::in_turn("handlers", [false, true]);
    support::each(cases, |(mpi, shared)| {
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a scratch folder"));
        let (expected, none) = printed(mpi, false, shared, folders[0].path());
        let (lines, started) = printed(mpi, true, shared, folders[1].path());
        assert!(expected.iter().any(|line| line.contains("caught")), "{expected:?}");
        assert_eq!(lines, expected, "{}, shared: {shared}", mpi.name());
        assert!(expected.iter().any(|line| line.contains("caught of own")), "{expected:?}");
        // Three are the program's own.
        assert_eq!(none, ["started 3"; 2]);
        // One beside, three before a call that throws or returns, and two whose errors are fatal.
        assert_eq!(started, ["started 9"; 2], "{}, shared: {shared}", mpi.name());
    });
}
