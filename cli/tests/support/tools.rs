//! What tests of packages share: tools that must succeed, those that may be missing, cargo and
//! Python.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where the drivers of packages lie, in C, Rust and Python.
pub const SUPPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/package");

/// Runs a command that must succeed.
pub fn run(program: &str, args: &[&str], folder: &Path) -> String {
    let ran = Command::new(program)
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(ran.status.success(), "{program} {args:?}: {}{}", said(&ran.stdout), said(&ran.stderr));
    said(&ran.stdout)
}

/// The program is there; if not, a line for the list of skipped tests.
pub fn has(program: &str) -> bool {
    testkit::has("cipher package", &[program])
}

/// A Python that can build and install a package; the system's has the Debian packages, though
/// another may come first in the path.
pub fn python() -> Option<&'static str> {
    let is_whole = |text: &&str| {
        Command::new(text)
            .args(["-c", "import cffi, setuptools, wheel, venv, pip"])
            .output()
            .is_ok_and(|output| output.status.success())
    };
    let found = ["/usr/bin/python3", "python3"].into_iter().find(is_whole);
    if found.is_none() {
        has("python3 with cffi, setuptools, wheel, pip and venv");
    }
    found
}

/// Installs the Python package in `trio/python` into an environment of its own.
pub fn install_with_pip(python: &str, at: &Path) {
    // The pip of the system installs into it: to give each its own takes three times as long as the
    // package.
    run(python, &["-m", "venv", "--system-site-packages", "--without-pip", "venv"], at);
    let words = [
        "-m",
        "pip",
        "--python",
        "venv/bin/python",
        "install",
        "--no-index",
        "--no-build-isolation",
        "--no-deps",
        "trio/python",
    ];
    run(python, &words, at);
}

/// An empty folder that is the same in each run, beside what cargo keeps in `target` there: crates
/// of others are built once.
pub fn kept(name: &str) -> PathBuf {
    let at = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&at).expect("the folder of the build");
    for it in at
        .read_dir()
        .expect("it is there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| !path.ends_with("target"))
    {
        if it.is_dir() { std::fs::remove_dir_all(&it) } else { std::fs::remove_file(&it) }
            .expect("it is ours");
    }
    at
}

/// Tests the crate in `trio/rust` of a kept folder; of ours nothing is left from another run.
pub fn cargo_test(at: &Path, variables: &[(&str, &str)]) -> Output {
    let cargo = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        command
            .args(words)
            .current_dir(at.join("trio/rust"))
            .env("CARGO_TARGET_DIR", at.join("target"));
        command
            .env_remove("MEANWHILE_NO_ASSEMBLY")
            .envs(variables.iter().copied())
            .output()
            .expect("cargo runs")
    };
    let cleaned = cargo(&["clean", "--offline", "--locked", "--package", "trio"]);
    assert!(cleaned.status.success(), "{}", String::from_utf8_lossy(&cleaned.stderr));
    cargo(&["test", "--offline", "--locked"])
}
