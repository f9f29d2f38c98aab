//! Packages with assembly: built by CMake, cargo and pip with and without it, run against OpenSSL
//! and published vectors, and validated before they are written.

use crate::support::tools;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tools::{SUPPORT, cargo_test, has, install_with_pip, kept, python, run};

const LEA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/lea/lea.ua");

fn package(folder: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .current_dir(folder)
        .args(["cipher", "package"])
        .args(more)
        .output()
        .expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// AES-128, ChaCha20 and LEA in `trio`, with assembly for all targets that have it; made
/// once for all tests.
fn trio(folder: &Path) {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let at = kept("package-asm");
        make_trio(&at);
        at
    });
    run("cp", &["-r", &made.join("trio").display().to_string(), "trio"], folder);
}

fn make_trio(folder: &Path) {
    let made = package(
        folder,
        &[
            "aes-128", "chacha20", LEA, "--name", "trio", "-o", "trio", "--emit", "asm",
            "--budget", "0",
        ],
    );
    assert!(made.status.success(), "{}", text(&made.stderr));
    let said = text(&made.stdout);
    for function in ["aes128_x86_64", "aes128_avx2", "chacha20_avx512", "lea128_avx2"] {
        assert!(said.contains(&format!("{function} in assembly, validated: ")), "{said}");
    }
    assert!(!said.contains("random inputs only"), "{said}");
}

/// 20,000 bytes encrypted by OpenSSL, with keys of 7, a first block or nonce of 9,
/// and ChaCha20's counter 5.
fn references(folder: &Path) -> [PathBuf; 2] {
    let plain = folder.join("plain");
    std::fs::write(&plain, (0..20_000).map(|i| (i % 251) as u8).collect::<Vec<u8>>())
        .expect("written");
    let chacha_iv = format!("05000000{}", "09".repeat(12));
    [("-aes-128-ctr", "07".repeat(16), "09".repeat(16)), ("-chacha20", "07".repeat(32), chacha_iv)]
        .map(|(cipher, key, iv)| {
            let out = folder.join(&cipher[1..]);
            let args = [
                "enc",
                cipher,
                "-K",
                &key,
                "-iv",
                &iv,
                "-in",
                &plain.display().to_string(),
                "-out",
                &out.display().to_string(),
            ];
            run("openssl", &args, folder);
            out
        })
}

/// The objects of assembly in a static library.
fn kernels(at: &Path, library: &str) -> usize {
    run("ar", &["t", library], at).lines().filter(|line| line.contains("_kernel.s")).count()
}

#[test]
fn cmake_builds_the_assembly_or_with_an_option_the_c() {
    if !cfg!(target_arch = "x86_64") || !has("cmake") || !has("openssl") {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at);
    let [aes, chacha] = references(at).map(|reference| reference.display().to_string());
    let strict = "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror";
    for (switch, n) in [("ON", 9), ("OFF", 0)] {
        run(
            "cmake",
            &["-S", "trio", "-B", switch, strict, &format!("-DTRIO_ASSEMBLY={switch}")],
            at,
        );
        run("cmake", &["--build", switch], at);
        // Three ciphers on three targets.
        assert_eq!(kernels(at, &format!("{switch}/libtrio.a")), n);
        let source = format!("{SUPPORT}/use.c");
        run("cc", &["-o", "use", "-Itrio/include", &source, &format!("{switch}/libtrio.a")], at);
        let ran = run("./use", &[&aes, &chacha], at);
        assert!(ran.starts_with("x86-64\n"), "{ran}");
    }
    // A shared library exports none of it.
    run(
        "cc",
        &[
            "-shared",
            "-o",
            "libtrio.so",
            "-Wl,--whole-archive",
            "ON/libtrio.a",
            "-Wl,--no-whole-archive",
        ],
        at,
    );
    let shown = run("nm", &["-D", "--defined-only", "libtrio.so"], at);
    assert!(shown.contains("aes128_blocks") && !shown.contains("kernel"), "{shown}");
}

#[test]
fn cargo_builds_the_assembly_or_if_told_so_the_c() {
    if !cfg!(target_arch = "x86_64") || !has("openssl") {
        return;
    }
    let at = &kept("package-asm-crate");
    trio(at);
    let [aes, chacha] = references(at).map(|reference| reference.display().to_string());
    std::fs::copy(format!("{SUPPORT}/crates/Cargo.lock"), at.join("trio/rust/Cargo.lock"))
        .expect("copied");
    std::fs::copy(format!("{SUPPORT}/openssl.rs"), at.join("trio/rust/tests/openssl.rs"))
        .expect("copied");
    let test = |no_assembly: &[(&str, &str)]| {
        let ran = cargo_test(
            at,
            &[&[("AES_REFERENCE", &*aes), ("CHACHA_REFERENCE", &*chacha)], no_assembly].concat(),
        );
        let said = text(&ran.stdout);
        assert!(ran.status.success(), "{said}{}", text(&ran.stderr));
        for name in [
            "test aes128 ... ok",
            "test chacha20 ... ok",
            "test lea128 ... ok",
            "streams_agree_with_openssl ... ok",
        ] {
            assert!(said.contains(name), "{said}");
        }
        files(&at.join("target"))
            .into_iter()
            .filter(|file| file.to_string_lossy().ends_with("_kernel.o"))
            .count()
    };
    assert_eq!([test(&[]), test(&[("MEANWHILE_NO_ASSEMBLY", "1")])], [9, 0]);
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn pip_builds_the_assembly_and_the_c_of_what_does_not_assemble() {
    let Some(python) = python() else { return };
    if !cfg!(target_arch = "x86_64") || !has("openssl") {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at);
    let [aes, chacha] = references(at).map(|reference| reference.display().to_string());
    std::fs::write(at.join("trio/python/c/src/aes128_avx2_kernel.s"), "no instruction\n")
        .expect("written");
    install_with_pip(python, at);
    run("venv/bin/python", &[&format!("{SUPPORT}/use.py"), &aes, &chacha], at);
    let library = files(&at.join("venv"))
        .into_iter()
        .find(|file| file.to_string_lossy().contains("_native"))
        .expect("it is installed");
    let named = run("nm", &[&library.display().to_string()], at);
    assert!(
        named.contains("lea128_avx2_kernel\n") && named.contains("aes128_avx512_kernel\n"),
        "{named}"
    );
}

#[test]
fn auto_takes_c_for_words_and_assembly_for_bits_and_recipes_of_assembly_are_taken() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    let made = |args: &[&str]| {
        let ran = package(at, &[args, &["--json"]].concat());
        assert!(ran.status.success(), "{args:?}: {}", text(&ran.stderr));
        serde_json::from_slice::<serde_json::Value>(&ran.stdout).expect("one object")
    };
    let words = made(&["chacha20", "--emit", "auto", "-o", "words"]);
    assert_eq!(
        (&words["ciphers"][0]["assembly"], &words["validated"]),
        (&serde_json::json!([]), &serde_json::Value::Null)
    );
    assert!(
        files(&at.join("words"))
            .iter()
            .all(|file| file.extension().is_none_or(|ending| ending != "s"))
    );
    assert!(
        !std::fs::read_to_string(at.join("words/CMakeLists.txt")).expect("written").contains("ASM")
    );
    let bits =
        made(&["gift-128", "--emit", "auto", "--budget", "0", "--slicing", "b", "-o", "bits"]);
    assert_eq!(
        (&bits["ciphers"][0]["assembly"], &bits["validated"]),
        (&serde_json::json!(["x86-64", "avx2", "avx512"]), &true.into())
    );
    // A recipe decides for its target alone.
    let tuned = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .current_dir(at)
        .args([
            "cipher",
            "tune",
            "gift-128",
            "--arch",
            "avx2",
            "--slicing",
            "b",
            "--model",
            "-o",
            "own.toml",
        ])
        .output()
        .expect("it runs");
    assert!(
        std::fs::read_to_string(at.join("own.toml")).expect("written").contains("emit = \"asm\""),
        "{tuned:?}"
    );
    let own = made(&["gift-128", "--recipe", "own.toml", "-o", "own"]);
    assert_eq!(
        (&own["ciphers"][0]["assembly"], &own["validated"]),
        (&serde_json::json!(["avx2"]), &true.into())
    );
    let budget = package(at, &["present-80", "--budget", "1", "-o", "other"]);
    assert!(
        budget.status.code() == Some(1)
            && text(&budget.stderr).contains("--budget is for assembly"),
        "{budget:?}"
    );
}
