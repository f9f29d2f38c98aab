//! What tests of packages share: tools that must succeed, those that may be missing, and Python.

use std::path::Path;
use std::process::Command;

/// Runs a command that must succeed.
pub fn run(program: &str, args: &[&str], folder: &Path) -> String {
    let ran = Command::new(program).args(args).current_dir(folder).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(ran.status.success(), "{program} {args:?}: {}{}", said(&ran.stdout), said(&ran.stderr));
    said(&ran.stdout)
}

/// The program is there; if not, a line for the list of skipped tests.
pub fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found && let Some(path) = std::env::var_os("MEANWHILE_SKIPS") {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).expect("the list of skips");
        std::io::Write::write_all(&mut file, format!("cipher package: {program} is missing\n").as_bytes()).expect("the list of skips");
    }
    found
}

/// A Python that can build and install a package; the system's has the Debian packages, though another may come first in the path.
pub fn python() -> Option<&'static str> {
    let is_whole =
        |it: &&str| Command::new(it).args(["-c", "import cffi, setuptools, wheel, venv, pip"]).output().is_ok_and(|it| it.status.success());
    let found = ["/usr/bin/python3", "python3"].into_iter().find(is_whole);
    if found.is_none() {
        has("python3 with cffi, setuptools, wheel, pip and venv");
    }
    found
}

/// Installs the Python package in `trio/python` into an environment of its own.
pub fn install_with_pip(python: &str, at: &Path) {
    run(python, &["-m", "venv", "--system-site-packages", "venv"], at);
    run("venv/bin/python", &["-m", "pip", "install", "--no-index", "--no-build-isolation", "--no-deps", "trio/python"], at);
}
