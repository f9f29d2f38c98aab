//! Blocks with a key each in packages: the bytes of the same blocks one by one, in C under sanitizers
//! and valgrind, in Rust and in Python.

use crate::support::drivers;
use crate::support::tools;

use std::path::Path;

use drivers::{SANITIZED, driver, sanitizes};
use tools::{SUPPORT, cargo_test, has, install_with_pip, kept, python, run};

/// The driver, and the package that it is built with.
const BUILT: (&str, &[&str]) = ("each_key.c", &["trio"]);

fn trio(folder: &Path, ciphers: &[&str]) {
    let words = ["--mode", "blocks", "--name", "trio", "-o", "trio"];
    let words = [&["cipher", "package"], ciphers, &words].concat();
    run(env!("CARGO_BIN_EXE_meanwhile"), &words, folder);
}

#[test]
fn each_block_has_the_bytes_that_its_key_gives_alone() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at, &["aes-128", "aes-256-decrypt", "present-80", "clyde-128"]);
    if sanitizes(at) {
        let checked = driver(at, &BUILT, "clang-19", &SANITIZED, true).display().to_string();
        assert_eq!(run(&checked, &[], at), "");
    }
    let program = driver(at, &BUILT, "gcc", &[], true).display().to_string();
    assert_eq!(run(&program, &[], at), "");
    if has("valgrind") {
        run("valgrind", &["-q", "--error-exitcode=9", &program, "secret"], at);
    }
    if has("s390x-linux-gnu-gcc") && has("qemu-s390x") {
        let program = driver(at, &BUILT, "s390x-linux-gnu-gcc", &["-static"], false);
        assert_eq!(run("qemu-s390x", &[&program.display().to_string()], at), "");
    }
}

const RUST: &str = "#[test]
fn each_key() {
    let keys: Vec<u8> = (0..16 * 70).map(|i| (i * i % 251) as u8).collect();
    let text: Vec<u8> = (0..16 * 70).map(|i| (i % 239) as u8).collect();
    let (mut out, mut one) = (vec![0; 16 * 70], vec![0; 16]);
    trio::Aes128::blocks_each_key(&keys, &text, &mut out).unwrap();
    for ((key, text), out) in keys.chunks(16).zip(text.chunks(16)).zip(out.chunks(16)) {
        trio::Aes128::new(key.try_into().unwrap()).blocks(text, &mut one).unwrap();
        assert_eq!(out, one);
    }
    assert!(trio::Aes128::blocks_each_key(&keys[16..], &text, &mut out).is_err());
    assert!(trio::Aes128::blocks_each_key(&keys, &text, &mut out[16..]).is_err());
    trio::Clyde128::blocks_each_key(&keys, &keys, &text, &mut out).unwrap();
}
";

#[test]
fn the_crate_has_it() {
    let at = &kept("package-each-key");
    trio(at, &["aes-128", "clyde-128"]);
    std::fs::copy(Path::new(SUPPORT).join("crates/Cargo.lock"), at.join("trio/rust/Cargo.lock"))
        .expect("copied");
    std::fs::write(at.join("trio/rust/tests/each_key.rs"), RUST).expect("written");
    let ran = cargo_test(at, &[("RUSTFLAGS", "-Dwarnings")]);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(said.contains("test each_key ... ok"), "{said}");
}

const PYTHON: &str = "from trio import Aes128, Clyde128
keys = bytes(i * i % 251 for i in range(16 * 70))
text = bytes(i % 239 for i in range(16 * 70))
made = Aes128.blocks_each_key(keys, text)
for at in range(0, len(text), 16):
    assert made[at : at + 16] == Aes128(keys[at : at + 16]).blocks(text[at : at + 16])
assert len(Clyde128.blocks_each_key(keys, text, text)) == len(text)
try:
    Aes128.blocks_each_key(keys[16:], text)
    raise AssertionError('a block has no key')
except ValueError:
    pass
";

#[test]
fn the_python_package_has_it() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at, &["aes-128", "clyde-128"]);
    install_with_pip(python, at);
    run("venv/bin/python", &["-c", PYTHON], at);
}
