//! `meanwhile cipher package`: each of its three packages built as a user builds it, run against
//! OpenSSL, and what is refused.

use crate::support::tools;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tools::{SUPPORT, cargo_test, has, install_with_pip, kept, python, run};

const LEA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/lea/lea.ua");
/// Bytes of each stream that OpenSSL makes.
const N: usize = 20_000;

fn package(folder: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .current_dir(folder)
        .args(["cipher", "package"])
        .args(more)
        .output()
        .expect("it runs")
}

/// AES-128, ChaCha20 and a user's own LEA, in `trio`.
fn trio(folder: &Path) {
    of(folder, &["aes-128", "chacha20", LEA]);
}

/// A package `trio` of these.
fn of(folder: &Path, ciphers: &[&str]) {
    let made = package(folder, &[ciphers, &["--name", "trio", "-o", "trio"]].concat());
    assert!(made.status.success(), "{}", text(&made.stderr));
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The same text encrypted by OpenSSL, with keys of 7, a first block or nonce of 9,
/// and ChaCha20's counter 5.
fn references(folder: &Path) -> [PathBuf; 2] {
    let plain = folder.join("plain");
    std::fs::write(&plain, (0..N).map(|i| (i % 251) as u8).collect::<Vec<u8>>()).expect("written");
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

#[test]
fn cmake_builds_installs_and_finds_the_c_library() {
    if !has("cmake") || !has("pkg-config") || !has("openssl") {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at);
    let [aes, chacha] = references(at).map(|reference| reference.display().to_string());
    let place = at.join("place").display().to_string();
    run(
        "cmake",
        &[
            "-S",
            "trio",
            "-B",
            "build",
            &format!("-DCMAKE_INSTALL_PREFIX={place}"),
            "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror",
        ],
        at,
    );
    run("cmake", &["--build", "build", "--parallel", "2"], at);
    run("cmake", &["--install", "build"], at);
    let own = format!("-DCMAKE_PREFIX_PATH={place}");
    run(
        "cmake",
        &["-S", SUPPORT, "-B", "use", &own, "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror"],
        at,
    );
    run("cmake", &["--build", "use"], at);
    let ran = run("use/use", &[&aes, &chacha], at);
    assert!(ran.starts_with("x86-64\n") || ran.starts_with("neon\n"), "{ran}");
    run("use/use_cpp", &[], at);
    // pkg-config says the same.
    let pc = walk(&at.join("place"))
        .into_iter()
        .find(|text| text.ends_with("trio.pc"))
        .expect("it is installed");
    let found = Command::new("pkg-config")
        .args(["--cflags", "--libs", &pc.display().to_string()])
        .output()
        .expect("it runs");
    let flags = text(&found.stdout);
    let mut args = vec!["-o", "by_pc"];
    let source = format!("{SUPPORT}/use.c");
    args.push(&source);
    args.extend(flags.split_whitespace());
    run("cc", &args, at);
    run("./by_pc", &[&aes, &chacha], at);
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
    }
    found
}

/// Compilers of Debian and emulators, of processors that get plain C.
const PROCESSORS: &[(&str, &str)] = &[
    ("riscv64-linux-gnu-gcc", "qemu-riscv64"),
    ("arm-linux-gnueabihf-gcc", "qemu-arm"),
    ("arm-linux-gnueabi-gcc", "qemu-arm"),
    ("s390x-linux-gnu-gcc", "qemu-s390x"),
];

/// The same for `make test-long`.
const LONG_PROCESSORS: &[(&str, &str)] = &[
    ("i686-linux-gnu-gcc", "qemu-i386"),
    ("powerpc64le-linux-gnu-gcc", "qemu-ppc64le"),
    ("powerpc64-linux-gnu-gcc", "qemu-ppc64"),
    ("powerpc-linux-gnu-gcc", "qemu-ppc"),
    ("sparc64-linux-gnu-gcc", "qemu-sparc64"),
    ("mips64el-linux-gnuabi64-gcc", "qemu-mips64el"),
];

/// Plain C runs on any processor: 32 or 64 bits, either byte order, with the bytes of this one.
#[test]
fn other_processors_get_plain_c_with_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    for (name, args) in [
        ("aes", &["aes-128", "--mode", "gcm"][..]),
        ("chacha", &["chacha20", "--mode", "poly1305"]),
        ("ascon", &["ascon-p12", "--mode", "aead"]),
    ] {
        let made = package(at, &[args, &["--name", name, "-o", name]].concat());
        assert!(made.status.success(), "{}", text(&made.stderr));
    }
    let folders = ["aes", "chacha", "ascon"];
    let sources = folders.iter().flat_map(|name| walk(&at.join(name).join("src")));
    let sources: Vec<PathBuf> =
        sources.filter(|path| path.extension().is_some_and(|ending| ending == "c")).collect();
    let flags = |path: &Path| -> &[&str] {
        let path = path.display().to_string();
        let of = [
            ("_sse.c", &["-mssse3"][..]),
            ("_avx2.c", &["-mavx2", "-mno-avx512f"]),
            ("_avx512vl.c", &["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq"]),
            ("_avx512.c", &["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq"]),
        ];
        of.into_iter().find(|(end, _)| path.ends_with(end)).map_or(&[], |(_, flags)| flags)
    };
    // Files of other targets are empty on another processor, and take no flags there.
    let made = |compiler: &str, emulator: Option<&str>, name: &str| {
        let program = at.join(format!("{compiler}.run"));
        let mut link = Command::new(compiler);
        link.arg("-static").arg("-o").arg(&program);
        let driver = PathBuf::from(format!("{SUPPORT}/anywhere.c"));
        for (idx, file) in sources.iter().chain([&driver]).enumerate() {
            let object = at.join(format!("{compiler}.{idx}.o"));
            let mut compile = Command::new(compiler);
            compile.args(["-std=c11", "-O0", "-Wall", "-Wextra", "-Werror", "-c"]).arg(file);
            compile.args(if emulator.is_none() { flags(file) } else { &[] });
            compile
                .args(folders.map(|name| format!("-I{}", at.join(name).join("include").display())));
            let said = compile.arg("-o").arg(&object).output().expect("it was found");
            assert!(said.status.success(), "{compiler}: {}", text(&said.stderr));
            link.arg(object);
        }
        let said = link.output().expect("it was found");
        assert!(said.status.success(), "{compiler}: {}", text(&said.stderr));
        let mut run = Command::new(emulator.map_or(program.as_os_str(), |name| name.as_ref()));
        let ran = run.args(emulator.map(|_| &program)).output().expect("it runs");
        assert!(ran.status.success(), "{compiler}: {ran:?}");
        let best = text(&ran.stderr);
        assert!(name.is_empty() || best.trim() == name, "{compiler}: {best}");
        text(&ran.stdout)
    };
    // Its bytes are compared with published ones by other tests.
    let here = made("gcc", None, "");
    let lines: Vec<&str> = here.lines().collect();
    // FIPS-197, appendix C.1.
    assert_eq!(lines[0], "aes 0 69c4e0d86a7b0430d8cdb78070b4c55a 1");
    assert_eq!(lines.len(), 28, "{here}");
    for line in &lines[1..] {
        let is_opened = line.ends_with(" 1") || line.contains(" 1 ") && !line.ends_with(" 0");
        assert!(line.split(' ').nth(1) == Some("0") && is_opened, "{line}");
    }
    let is_long = std::env::var_os("MEANWHILE_LONG").is_some();
    for (compiler, emulator) in PROCESSORS.iter().chain(if is_long { LONG_PROCESSORS } else { &[] })
    {
        if has(compiler) && has(emulator) {
            assert_eq!(made(compiler, Some(emulator), "generic"), here, "{compiler}");
        }
    }
    // AArch64 with the other byte order is another processor, for which Debian has no C library.
    if ["clang-19", "ld.lld-19", "qemu-aarch64_be"].into_iter().all(has) {
        let own = format!("{SUPPORT}/freestanding");
        let start = PathBuf::from(format!("{own}/start.c"));
        let driver = PathBuf::from(format!("{SUPPORT}/anywhere.c"));
        let program = at.join("big.run");
        let mut link = Command::new("ld.lld-19");
        link.args(["-EB", "-static", "-o"]).arg(&program);
        for (idx, file) in sources.iter().chain([&driver, &start]).enumerate() {
            let object = at.join(format!("big.{idx}.o"));
            let mut compile = Command::new("clang-19");
            compile.args(["--target=aarch64_be-none-elf", "-ffreestanding", "-O1", "-c"]);
            compile.arg(format!("-I{own}")).arg(file);
            compile
                .args(folders.map(|name| format!("-I{}", at.join(name).join("include").display())));
            let said = compile.arg("-o").arg(&object).output().expect("it was found");
            assert!(said.status.success(), "{}: {}", file.display(), text(&said.stderr));
            link.arg(object);
        }
        let said = link.output().expect("it was found");
        assert!(said.status.success(), "{}", text(&said.stderr));
        let ran = Command::new("qemu-aarch64_be").arg(&program).output().expect("it was found");
        assert_eq!(text(&ran.stdout), here, "{ran:?}");
    }
}

#[test]
fn both_compilers_give_no_warning_and_neon_runs() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at);
    let sources = walk(&at.join("trio/src"));
    let sources: Vec<String> = sources
        .iter()
        .map(|source| source.display().to_string())
        .filter(|text| text.ends_with(".c"))
        .collect();
    let flags = |path: &str| -> &'static [&'static str] {
        match path {
            _ if path.ends_with("_avx2.c") => &["-mavx2", "-mno-avx512f"],
            _ if path.ends_with("_avx512.c") || path.ends_with("_avx512vl.c") => {
                &["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq"]
            }
            _ if path.ends_with("_sse.c") => &["-mssse3"],
            _ => &[],
        }
    };
    let strict = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Itrio/include"];
    for compiler in ["gcc", "clang-19"] {
        for source in sources.iter().filter(|_| has(compiler)) {
            run(compiler, &[&strict, flags(source), &["-fsyntax-only", source]].concat(), at);
        }
    }
    // A target's file without its flags is refused when it is compiled.
    if cfg!(target_arch = "x86_64") {
        let refused = Command::new("gcc")
            .current_dir(at)
            .args(["-c", "-Itrio/include", "trio/src/aes128_avx2.c"])
            .output()
            .expect("gcc");
        assert!(
            text(&refused.stderr).contains("compile this file with -m64 -mavx2 -mno-avx512f"),
            "{refused:?}"
        );
    }
    if has("aarch64-linux-gnu-gcc") && has("qemu-aarch64") && has("openssl") {
        let [aes, chacha] = references(at).map(|reference| reference.display().to_string());
        let mut args = [&strict[..], &["-O1", "-static", "-o", "neon"]].concat();
        let source = format!("{SUPPORT}/use.c");
        args.push(&source);
        args.extend(sources.iter().map(String::as_str));
        run("aarch64-linux-gnu-gcc", &args, at);
        assert_eq!(run("qemu-aarch64", &["neon", &aes, &chacha], at), "neon\nneon\n");
    }
}

/// Instructions of the longest function with vectors and an operand in memory, in what gcc
/// makes of a file.
fn operands_in_memory(folder: &Path, source: &str, flags: &[&str]) -> usize {
    run(
        "gcc",
        &[
            flags,
            &[
                "-std=gnu11",
                "-w",
                "-O2",
                "-fno-inline",
                "-Ipackage/include",
                "-S",
                "-o",
                "made.s",
                source,
            ],
        ]
        .concat(),
        folder,
    );
    let assembly = std::fs::read_to_string(folder.join("made.s")).expect("gcc wrote it");
    let is_operand =
        |line: &&str| line.contains("mm") && line.contains('(') && line.starts_with('\t');
    assembly
        .split("\t.type\t")
        .map(|function| function.lines().filter(is_operand).count())
        .max()
        .expect("there is a piece")
}

#[test]
fn a_package_has_the_order_that_compile_has() {
    if !has("gcc") || !cfg!(target_arch = "x86_64") {
        return;
    }
    for (name, file, slicing, arch, flags) in [
        ("aes-128", "aes128", "b", "avx2", &["-mavx2", "-mno-avx512f"][..]),
        ("rectangle-80", "rectangle80", "b", "sse", &["-mssse3", "-mno-avx"][..]),
        ("aes-128", "aes128", "h", "avx2", &["-mavx2", "-mno-avx512f"][..]),
    ] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = folder.path();
        let made = package(at, &[name, "--slicing", slicing, "--mode", "blocks", "-o", "package"]);
        assert!(made.status.success(), "{}", text(&made.stderr));
        let compiled = |schedule: &str, interleave: &str| {
            let options = [
                "--slicing",
                slicing,
                "--arch",
                arch,
                "--schedule",
                schedule,
                "-X",
                &format!("interleave={interleave}"),
                "-o",
                "one.c",
            ];
            let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
                .current_dir(at)
                .args(["cipher", "compile", name])
                .args(options)
                .output();
            let ran = ran.expect("it runs");
            assert!(ran.status.success(), "{}", text(&ran.stderr));
            operands_in_memory(at, "one.c", flags)
        };
        // A package works on as many batches as the model prefers.
        let own = operands_in_memory(at, &format!("package/src/{file}_{arch}.c"), flags);
        assert_eq!(own, compiled("auto", "auto"), "{name} {slicing} {arch}");
        assert_ne!(
            own,
            compiled("none", "auto"),
            "{name} {slicing} {arch}: the order makes no difference, so this shows nothing"
        );
    }
}

#[test]
fn cargo_builds_the_crate_and_its_traits_agree_with_openssl() {
    if !has("openssl") {
        return;
    }
    let at = &kept("package");
    of(at, &["aes-128", "chacha20", LEA, "aes-128-decrypt", "serpent-128", "serpent-128-decrypt"]);
    let [aes, chacha] = references(at).map(|reference| reference.display().to_string());
    std::fs::copy(format!("{SUPPORT}/crates/Cargo.lock"), at.join("trio/rust/Cargo.lock"))
        .expect("copied");
    for file in ["openssl.rs", "inverse.rs"] {
        std::fs::copy(format!("{SUPPORT}/{file}"), at.join("trio/rust/tests").join(file))
            .expect("copied");
    }
    let ran = cargo_test(
        at,
        &[("AES_REFERENCE", &aes), ("CHACHA_REFERENCE", &chacha), ("RUSTFLAGS", "-Dwarnings")],
    );
    let said = text(&ran.stdout);
    assert!(ran.status.success(), "{said}{}", text(&ran.stderr));
    for name in [
        "test aes128 ... ok",
        "test chacha20 ... ok",
        "test lea128 ... ok",
        "streams_agree_with_openssl ... ok",
        "decryption_is_the_inverse ... ok",
    ] {
        assert!(said.contains(name), "{said}");
    }
}

#[test]
fn crates_and_python_packages_say_what_they_are() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at);
    let read = |path: &str| {
        std::fs::read_to_string(at.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    // One of the three is the user's own, and so is its licence.
    for file in ["rust/Cargo.toml", "python/pyproject.toml"] {
        let text = read(&format!("trio/{file}"));
        assert!(text.contains("readme = \"README.md\"") && !text.contains("license"), "{text}");
    }
    for folder in ["rust", "python"] {
        let text = read(&format!("trio/{folder}/README.md"));
        assert!(
            text.contains("- `Aes128`: ") && text.contains("- `Lea128`: ") && !text.contains('@'),
            "{text}"
        );
    }
    assert!(at.join("trio/python/trio/py.typed").exists());
    let made =
        package(at, &["ascon-p12", "--mode", "aead,hash,xof", "-o", "ours", "--name", "ours"]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    assert!(read("ours/rust/Cargo.toml").contains("license = \"MIT OR Apache-2.0\""));
    assert!(
        read("ours/python/pyproject.toml").contains("license = {text = \"MIT OR Apache-2.0\"}")
    );
    // Every function that a user calls has types.
    for module in ["trio/python/trio/__init__.py", "ours/python/ours/__init__.py"] {
        for line in read(module)
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("def ") && !line.starts_with("def _"))
        {
            assert!(
                line.contains(" -> ") && (line.contains(": ") || line.contains("(self) ")),
                "{module}: {line}"
            );
        }
    }
}

#[test]
fn pip_installs_the_python_package() {
    let Some(python) = python() else { return };
    if !has("openssl") {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    trio(at);
    let [aes, chacha] = references(at).map(|reference| reference.display().to_string());
    install_with_pip(python, at);
    run("venv/bin/python", &[&format!("{SUPPORT}/use.py"), &aes, &chacha], at);
}

#[test]
fn only_the_folder_of_a_package_is_overwritten_and_only_with_force() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    let refused = |args: &[&str], why: &str| {
        let output = package(at, args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(text(&output.stderr).contains(why), "{args:?}: {}", text(&output.stderr));
    };
    assert!(package(at, &["chacha20", "-o", "made"]).status.success());
    refused(&["chacha20", "-o", "made"], "made is there already");
    std::fs::write(at.join("made/own.txt"), "mine").expect("written");
    // Its own files are replaced or removed, and the user's files stay.
    assert!(package(at, &["ace", "-o", "made", "--force"]).status.success());
    assert!(at.join("made/src/ace.c").exists() && !at.join("made/src/chacha20.c").exists());
    assert_eq!(std::fs::read_to_string(at.join("made/own.txt")).expect("still there"), "mine");
    std::fs::create_dir(at.join("mine")).expect("made");
    std::fs::write(at.join("mine/CMakeLists.txt"), "mine").expect("written");
    refused(&["ace", "-o", "mine", "--force"], "mine has files and is no package of ours");
    std::fs::write(at.join("mine/meanwhile-package.json"), "{}").expect("written");
    refused(&["ace", "-o", "mine", "--force"], "mine has files and is no package of ours");
    assert_eq!(
        std::fs::read_to_string(at.join("mine/CMakeLists.txt")).expect("still there"),
        "mine"
    );
    refused(&["ace", "-o", "mine/CMakeLists.txt"], "is a file");
    // A manifest with files outside the folder deletes none of them.
    let list =
        std::fs::read_to_string(at.join("made/meanwhile-package.json")).expect("it is there");
    let mut list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    list["files"].as_array_mut().expect("a list").push("../mine/CMakeLists.txt".into());
    std::fs::write(at.join("made/meanwhile-package.json"), list.to_string()).expect("written");
    assert!(package(at, &["ace", "-o", "made", "--force"]).status.success());
    assert!(at.join("mine/CMakeLists.txt").exists());
}

#[test]
fn a_program_that_cannot_be_packaged_is_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    std::fs::write(at.join("words.ua"), "node f (x:u16x2) returns (y:u16x2) let y = x tel\n")
        .expect("written");
    for (args, why) in [
        (&["words.ua", "-o", "p"][..], "`f` has no byte interface, so there is nothing to package"),
        (&["ace", "--mode", "ctr", "-o", "p"], "`ace` has no mode `ctr`"),
        (&["ace", "ace", "-o", "p"], "`ace` is in the package twice"),
        (&["ace", "--name", "Ace", "-o", "p"], "`Ace` cannot be the name of a package"),
        (
            &["ace", "chacha20", "--entry", "ace", "-o", "p"],
            "--layout and --entry are for one file",
        ),
        (&["aec", "-o", "p"], "did you mean `ace`?"),
    ] {
        let output = package(at, args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(text(&output.stderr).contains(why), "{args:?}: {}", text(&output.stderr));
        assert!(!at.join("p").exists(), "{args:?}");
    }
    let blocks = package(at, &["aes-128", "--mode", "blocks", "-o", "p", "--json"]);
    let object: serde_json::Value = serde_json::from_slice(&blocks.stdout).expect("one object");
    assert_eq!(
        (&object["ok"], &object["ciphers"][0]["mode"], &object["name"]),
        (&true.into(), &serde_json::Value::Null, &"aes128".into())
    );
    assert!(
        !std::fs::read_to_string(at.join("p/include/aes128.h"))
            .expect("the header")
            .contains("ctr")
    );
}

/// Every bundled cipher through its Rust crate; minutes, so under `make test-long` only.
#[test]
fn every_bundled_cipher_passes_its_vectors_as_a_crate() {
    if std::env::var_os("MEANWHILE_LONG").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    let listed = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["cipher", "list", "--json"])
        .output()
        .expect("it runs");
    let list: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("one object");
    let names: Vec<&str> = list["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|value| value["name"].as_str().expect("a name"))
        .collect();
    let made = package(at, &[&names[..], &["--name", "trio", "-o", "all"]].concat());
    assert!(made.status.success(), "{}", text(&made.stderr));
    std::fs::copy(format!("{SUPPORT}/crates/Cargo.lock"), at.join("all/rust/Cargo.lock"))
        .expect("copied");
    let said = run(
        env!("CARGO"),
        &[
            "test",
            "--offline",
            "--locked",
            "--manifest-path",
            "all/rust/Cargo.toml",
            "--target-dir",
            "target",
        ],
        at,
    );
    // The vectors of subterranean-duplex are shorter than a block and padded, which the C does not
    // do.
    assert!(said.matches(" ... ok").count() + 1 >= names.len(), "{said}");
}

#[test]
fn missing_vectors_are_reported_and_wrong_ones_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    for file in ["lea.ua", "lea.layout.toml"] {
        std::fs::copy(Path::new(LEA).with_file_name(file), at.join(file)).expect("it is there");
    }
    let made = package(at, &["lea.ua", "-o", "made"]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    assert!(
        text(&made.stdout)
            .contains("there is no lea.json, so the package has no test against vectors"),
        "{}",
        text(&made.stdout)
    );
    for wrong in ["{", "{}", r#"{"vectors": []}"#] {
        std::fs::write(at.join("lea.json"), wrong).expect("written");
        let made = package(at, &["lea.ua", "-o", "other"]);
        assert_eq!(made.status.code(), Some(1), "{wrong}");
        assert!(text(&made.stderr).contains("lea.json"), "{}", text(&made.stderr));
        assert!(!at.join("other").exists());
    }
}

#[test]
fn a_package_that_would_not_build_is_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    let refused = |args: &[&str], why: &str| {
        let output = package(at, args);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", text(&output.stdout));
        assert!(text(&output.stderr).contains(why), "{args:?}: {}", text(&output.stderr));
        assert!(!at.join("made").exists(), "{args:?}");
    };
    refused(&["ascon-p12", "--mode", "siv", "-o", "made"], "`ascon-p12` has no mode `siv`");
    refused(&["aes-128", "--mode", "ctr,blocks", "-o", "made"], "`aes128` is in the package twice");
    refused(&["ascon-p12", "--mode", "aead,aead", "-o", "made"], "help: leave one out");
    for name in ["match", "import", "core", "install", "x"] {
        refused(&["ace", "--name", name, "-o", "made"], "cannot be the name of a package");
    }
    let lea =
        std::fs::read_to_string(Path::new(LEA).with_extension("layout.toml")).expect("it is there");
    std::fs::copy(LEA, at.join("lea.ua")).expect("it is there");
    for (key, value) in [
        ("source", "x */ int evil; /* y"),
        ("kind", "a\\\\b"),
        ("source", "two\\nlines"),
        ("kind", "a\\\"b"),
    ] {
        let others: Vec<&str> = lea.lines().filter(|line| !line.starts_with(key)).collect();
        std::fs::write(
            at.join("lea.layout.toml"),
            format!("{key} = \"{value}\"\n{}", others.join("\n")),
        )
        .expect("written");
        refused(&["lea.ua", "-o", "made"], "stands in comments");
    }
}

#[test]
fn other_files_stay_in_a_package_that_is_overwritten() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    assert!(package(at, &["aes-128", "-o", "made"]).status.success());
    std::fs::write(at.join("made/include/chacha20.h"), "mine").expect("written");
    let again = ["aes-128", "chacha20", "--name", "aes128", "-o", "made", "--force"];
    let output = package(at, &again);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("chacha20.h is not of the package"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(
        std::fs::read_to_string(at.join("made/include/chacha20.h")).expect("still there"),
        "mine"
    );
    std::fs::remove_file(at.join("made/include/chacha20.h")).expect("it is there");
    std::fs::rename(at.join("made/rust/src"), at.join("outside")).expect("it is there");
    std::os::unix::fs::symlink(at.join("outside"), at.join("made/rust/src")).expect("linked");
    std::fs::write(at.join("outside/lib.rs"), "mine").expect("written");
    assert_eq!(package(at, &again).status.code(), Some(1));
    assert_eq!(std::fs::read_to_string(at.join("outside/lib.rs")).expect("still there"), "mine");
}
