//! `meanwhile cipher package keccak-f1600 --mode shake128,sha3-512`, SHA-256 and BLAKE2: the C under
//! sanitizers and on a processor of the other byte order, the crate and the Python package, against
//! hashlib.

use crate::support::crates;
use crate::support::drivers;
use crate::support::tools;

use std::path::Path;
use std::process::Command;

use crates::crate_passes;
use drivers::{SANITIZED, driver, sanitizes};
use tools::{SUPPORT, has, install_with_pip, kept, python, run};

/// The driver, and the packages that it is built with.
const BUILT: (&str, &[&str]) = ("digests.c", &["trio", "sha", "blake2"]);

/// SHAKE128 and SHA3-512, in `trio`.
fn trio(folder: &Path) {
    let words = "cipher package keccak-f1600 --mode shake128,sha3-512 --name trio -o trio";
    run(env!("CARGO_BIN_EXE_meanwhile"), &words.split(' ').collect::<Vec<_>>(), folder);
}

/// BLAKE2s-256 and BLAKE2b-512, in a folder of this name.
fn blake2(folder: &Path, name: &str) {
    let words = format!(
        "cipher package blake2s-compress blake2b-compress --mode hash --name {name} -o {name}"
    );
    run(env!("CARGO_BIN_EXE_meanwhile"), &words.split(' ').collect::<Vec<_>>(), folder);
}

#[test]
fn the_c_gives_the_bytes_of_hashlib_under_sanitizers_and_on_the_other_byte_order() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    if !sanitizes(at) {
        return;
    }
    trio(at);
    let words = ["cipher", "package", "sha256-compress", "--mode", "hash", "-o", "sha"];
    run(env!("CARGO_BIN_EXE_meanwhile"), &words, at);
    blake2(at, "blake2");
    let here = driver(at, &BUILT, "clang-19", &SANITIZED, true);
    let said = run(&here.display().to_string(), &[], at);
    let script = "import hashlib, sys\n\
        text = bytes(i % 251 for i in range(600))\n\
        for line in open(sys.argv[1]):\n    \
            name, n, n_out, *given, made = line.strip().split(',')\n    \
            name = {'blake2s256': 'blake2s', 'blake2b512': 'blake2b'}.get(name, name)\n    \
            if given:\n        \
                key, own = map(int, given)\n        \
                other = getattr(hashlib, name)(text[:int(n)], digest_size=int(n_out), key=text[9:9 + key], \
                    salt=text[5:5 + own], person=text[7:7 + own])\n        \
                assert made == other.hexdigest(), line\n        \
                continue\n    \
            other = hashlib.new(name.replace('shake', 'shake_'), text[:int(n)])\n    \
            wanted = other.hexdigest(int(n_out)) if 'shake' in name else other.hexdigest()\n    \
            assert made == wanted, line\n";
    std::fs::write(at.join("lines"), &said).expect("written");
    assert!(said.lines().count() > 500, "{said}");
    run("python3", &["-c", script, "lines"], at);
    let program = driver(at, &BUILT, "gcc", &[], true);
    assert_eq!(run(&program.display().to_string(), &[], at), said, "gcc");
    for (compiler, emulator) in
        [("s390x-linux-gnu-gcc", "qemu-s390x"), ("arm-linux-gnueabihf-gcc", "qemu-arm")]
    {
        if has(compiler) && has(emulator) {
            let program = driver(at, &BUILT, compiler, &["-static"], false);
            let ran = Command::new(emulator).arg(program).output().expect("it was found");
            assert_eq!(String::from_utf8_lossy(&ran.stdout), said, "{compiler}");
        }
    }
}

#[test]
fn cargo_builds_the_crate_with_the_traits_of_digest() {
    let at = &kept("package-digests");
    trio(at);
    crate_passes(at, "digests/Cargo.lock", &["shake128", "sha3_512"]);
}

#[test]
fn cargo_builds_the_crate_of_blake2() {
    let at = &kept("package-blake2");
    blake2(at, "trio");
    crate_passes(at, "digests/Cargo.lock", &["blake2s256", "blake2b512"]);
}

#[test]
fn pip_installs_the_python_package() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at);
    install_with_pip(python, at);
    run("venv/bin/python", &[&format!("{SUPPORT}/digests.py")], at);
}

#[test]
fn pip_installs_the_python_package_of_blake2() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    blake2(at, "trio");
    install_with_pip(python, at);
    run("venv/bin/python", &[&format!("{SUPPORT}/blake2.py")], at);
}
