//! `meanwhile cipher package ascon-p12 --mode aead,hash,xof`: the library, the crate and the Python package built as users build
//! them, and the published vectors through each.

use std::path::Path;
use std::process::Command;

const SUPPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/package");
const CIPHERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ciphers");

/// All three modes, in `trio`.
fn trio(folder: &Path) {
    let args = ["cipher", "package", "ascon-p12", "--mode", "aead,hash,xof", "--name", "trio", "-o", "trio"];
    run(env!("CARGO_BIN_EXE_meanwhile"), &args, folder);
}

/// Runs a command that must succeed.
fn run(program: &str, args: &[&str], folder: &Path) -> String {
    let ran = Command::new(program).args(args).current_dir(folder).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(ran.status.success(), "{program} {args:?}: {}{}", said(&ran.stdout), said(&ran.stderr));
    said(&ran.stdout)
}

fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found && let Some(path) = std::env::var_os("MEANWHILE_SKIPS") {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).expect("the list of skips");
        std::io::Write::write_all(&mut file, format!("cipher package of modes: {program} is missing\n").as_bytes())
            .expect("the list of skips");
    }
    found
}

#[test]
fn cmake_builds_and_installs_the_c_library() {
    if !has("cmake") || !has("cc") {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at);
    let place = format!("-DCMAKE_INSTALL_PREFIX={}", at.join("place").display());
    run(
        "cmake",
        &["-S", "trio", "-B", "build", &place, "-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror"],
        at,
    );
    run("cmake", &["--build", "build", "--parallel", "2"], at);
    run("cmake", &["--install", "build"], at);
    let source = format!("{SUPPORT}/modes.c");
    run(
        "cc",
        &["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Iplace/include", &source, "place/lib/libtrio.a", "-o", "use"],
        at,
    );
    assert!(["x86-64\n", "sse\n", "avx2\n", "avx512\n", "neon\n"].contains(&&*run("./use", &[], at)));
}

#[test]
fn cargo_builds_the_crate_with_the_traits_of_aead_and_digest() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at);
    std::fs::copy(format!("{SUPPORT}/modes/Cargo.lock"), at.join("trio/rust/Cargo.lock")).expect("copied");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--offline", "--locked"]).current_dir(at.join("trio/rust"));
    let ran = cargo.env("CARGO_TARGET_DIR", at.join("target")).env("RUSTFLAGS", "-Dwarnings").output().expect("cargo runs");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    for name in ["test ascon_aead128 ... ok", "test ascon_hash256 ... ok", "test ascon_xof128 ... ok"] {
        assert!(said.contains(name), "{said}");
    }
}

#[test]
fn pip_installs_the_python_package() {
    // The system's Python has the Debian packages; another one may come first in the path.
    let is_whole =
        |it: &&str| Command::new(it).args(["-c", "import cffi, setuptools, wheel, venv, pip"]).output().is_ok_and(|it| it.status.success());
    let Some(python) = ["/usr/bin/python3", "python3"].into_iter().find(is_whole) else {
        has("python3 with cffi, setuptools, wheel, pip and venv");
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at);
    run(python, &["-m", "venv", "--system-site-packages", "venv"], at);
    run("venv/bin/python", &["-m", "pip", "install", "--no-index", "--no-build-isolation", "--no-deps", "trio/python"], at);
    let files = ["ascon-aead128", "ascon-hash256", "ascon-xof128"].map(|it| format!("{CIPHERS}/{it}.json"));
    run("venv/bin/python", &[&format!("{SUPPORT}/modes.py"), &files[0], &files[1], &files[2]], at);
}
