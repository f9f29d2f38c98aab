//! `meanwhile cipher package ascon-p12 --mode aead,hash,xof`: the library, the crate and the Python
//! package built as users build them, and the published vectors through each.

use crate::support::crates;
use crate::support::tools;

use std::path::Path;

use crates::crate_passes;
use tools::{SUPPORT, has, install_with_pip, kept, python, run};

const CIPHERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ciphers");

/// All three modes, in `trio`.
fn trio(folder: &Path) {
    let args = [
        "cipher",
        "package",
        "ascon-p12",
        "--mode",
        "aead,hash,xof",
        "--name",
        "trio",
        "-o",
        "trio",
    ];
    run(env!("CARGO_BIN_EXE_meanwhile"), &args, folder);
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
        &[
            "-S",
            "trio",
            "-B",
            "build",
            &place,
            "-DCMAKE_INSTALL_LIBDIR=lib",
            "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror",
        ],
        at,
    );
    run("cmake", &["--build", "build", "--parallel", "2"], at);
    run("cmake", &["--install", "build"], at);
    let source = format!("{SUPPORT}/modes.c");
    run(
        "cc",
        &[
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-Iplace/include",
            &source,
            "place/lib/libtrio.a",
            "-o",
            "use",
        ],
        at,
    );
    assert!(["x86-64\n", "sse\n", "avx2\n", "avx512\n", "neon\n"].contains(&&*run(
        "./use",
        &[],
        at
    )));
}

#[test]
fn cargo_builds_the_crate_with_the_traits_of_aead_and_digest() {
    let at = &kept("package-modes");
    trio(at);
    let names = ["ascon_aead128", "ascon_aead128_each", "ascon_hash256", "ascon_xof128"];
    crate_passes(at, "modes/Cargo.lock", &names);
}

#[test]
fn pip_installs_the_python_package() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at);
    install_with_pip(python, at);
    let files = ["ascon-aead128", "ascon-hash256", "ascon-xof128"]
        .map(|word| format!("{CIPHERS}/{word}.json"));
    run("venv/bin/python", &[&format!("{SUPPORT}/modes.py"), &files[0], &files[1], &files[2]], at);
}
