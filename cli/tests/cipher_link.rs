//! Several C files, and several packages, in one program: their names do not clash.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn meanwhile(args: &[&str]) {
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    assert_eq!(ran.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

fn has_gcc() -> bool {
    testkit::has("cipher linking", &["gcc"])
}

fn gcc(args: &[&str]) -> Output {
    let ran = Command::new("gcc").args(args).output().expect("gcc runs");
    assert!(ran.status.success(), "gcc {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    ran
}

fn run(program: &Path) -> String {
    let ran = Command::new(program).output().expect("it runs");
    assert_eq!(ran.status.code(), Some(0));
    String::from_utf8(ran.stdout).expect("text")
}

#[test]
fn a_cipher_its_decryption_and_the_same_for_another_target_are_one_program() {
    if !has_gcc() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("a plain path").to_string();
    for (name, stem, more) in [
        ("aes-128", "there", &[][..]),
        ("aes-128-decrypt", "back", &[]),
        ("aes-128", "own", &["--prefix", "own_"]),
    ] {
        let (c, header) = (at(&format!("{stem}.c")), at(&format!("{stem}.h")));
        let args = [
            "cipher",
            "compile",
            name,
            "--slicing",
            "v",
            "-X",
            "unroll=no",
            "-o",
            &c,
            "--header",
            &header,
        ];
        meanwhile(&[&args[..], more].concat());
    }
    let main = "#include \"there.h\"\n#include \"back.h\"\n#include \"own.h\"\n#include <stdio.h>\n#include <string.h>\n\
        int main(void) {\n  static const uint8_t key[16]; uint8_t a[16] = \"sixteen letters\", b[16], c[16];\n\
        aes128_roundkeys k; aes128_decrypt_roundkeys d; own_aes128_roundkeys o;\n\
        aes128_expand(&k, key); aes128_decrypt_expand(&d, key); own_aes128_expand(&o, key);\n\
        aes128_blocks(&k, a, b, 1); own_aes128_blocks(&o, a, c, 1);\n  if (memcmp(b, c, 16)) return 1;\n\
        aes128_decrypt_blocks(&d, b, b, 1);\n  printf(\"%.15s\", b);\n  return 0;\n}\n";
    std::fs::write(at("main.c"), main).expect("written");
    gcc(&[
        "-O1",
        "-Wall",
        "-Werror",
        "-o",
        &at("main"),
        &at("main.c"),
        &at("there.c"),
        &at("back.c"),
        &at("own.c"),
    ]);
    assert_eq!(run(Path::new(&at("main"))), "sixteen letters");
}

#[test]
fn nodes_without_bytes_for_two_targets_are_one_program() {
    if !has_gcc() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("a plain path").to_string();
    std::fs::write(at("f.ua"), "node f (x:u16, k:u16) returns (y:u16) let y = x ^ k tel")
        .expect("written");
    for (arch, stem) in [("x86-64", "one"), ("sse", "many")] {
        let (ua, prefix, c, header) =
            (at("f.ua"), format!("{stem}_"), at(&format!("{stem}.c")), at(&format!("{stem}.h")));
        meanwhile(&[
            "cipher",
            "compile",
            &ua,
            "--slicing",
            "v",
            "--arch",
            arch,
            "--prefix",
            &prefix,
            "-o",
            &c,
            "--header",
            &header,
        ]);
    }
    let main = "#include \"one.h\"\n#include \"many.h\"\n#include <stdio.h>\nint main(void) {\n\
        one_reg a; many_reg x = {1, 2}, k = {4, 4}, b;\n  one_f__(1, 4, &a); many_f__(x, k, &b);\n  printf(\"%d %d\", a, b[1]);\n}\n";
    std::fs::write(at("main.c"), main).expect("written");
    gcc(&[
        "-O1",
        "-Wall",
        "-Werror",
        "-mssse3",
        "-o",
        &at("main"),
        &at("main.c"),
        &at("one.c"),
        &at("many.c"),
    ]);
    assert_eq!(run(Path::new(&at("main"))), "5 6");
}

/// The C of a package as objects, each with the flags of its target.
fn objects(package: &Path) -> Vec<PathBuf> {
    let sources = std::fs::read_dir(package.join("src"))
        .expect("its sources")
        .map(|entry| entry.expect("a file").path());
    let sources: Vec<PathBuf> =
        sources.filter(|source| source.extension().is_some_and(|ending| ending == "c")).collect();
    let include = format!("-I{}", package.join("include").display());
    let object = |source: PathBuf| {
        let stem = source.file_stem().expect("a name").to_string_lossy().into_owned();
        let flags: &[&str] = match stem.rsplit('_').next() {
            Some("sse") => &["-mssse3"],
            Some("avx2") => &["-mavx2"],
            Some("avx512" | "avx512vl") => &["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq"],
            _ => &[],
        };
        let object = source.with_extension("o");
        let (from, to) =
            (source.to_str().expect("a plain path"), object.to_str().expect("a plain path"));
        gcc(&[flags, &["-O0", "-fPIC", &include, "-c", from, "-o", to]].concat());
        object
    };
    sources.into_iter().map(object).collect()
}

#[test]
fn two_packages_of_one_cipher_are_one_program_and_export_only_their_headers() {
    if !has_gcc() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("a plain path").to_string();
    let (one, other) = (at("one"), at("other"));
    meanwhile(&["cipher", "package", "rectangle-80", "-o", &one]);
    meanwhile(&[
        "cipher",
        "package",
        "rectangle-80",
        "chacha20",
        "--mode",
        "blocks",
        "--prefix",
        "acme_",
        "-o",
        &other,
    ]);
    let main = "#include <rectangle80.h>\n#include <acme_rectangle80.h>\n#include <stdio.h>\n#include <string.h>\n\
        int main(void) {\n  static const uint8_t key[10]; uint8_t a[8] = {1}, b[8], c[8];\n\
        rectangle80_keys k; acme_rectangle80_keys l;\n\
        if (rectangle80_expand(&k, NULL, key, 10) || acme_rectangle80_expand(&l, \"x86-64\", key, 10)) return 1;\n\
        if (rectangle80_blocks(&k, a, 8, b, 8) || acme_rectangle80_blocks(&l, a, 8, c, 8)) return 2;\n\
        puts(memcmp(b, c, 8) ? \"differ\" : \"agree\");\n  return 0;\n}\n";
    std::fs::write(at("main.c"), main).expect("written");
    let (own, others) = (objects(Path::new(&one)), objects(Path::new(&other)));
    let objects: Vec<&str> =
        own.iter().chain(&others).map(|it| it.to_str().expect("a plain path")).collect();
    let includes = [format!("-I{one}/include"), format!("-I{other}/include")];
    let (program, source) = (at("main"), at("main.c"));
    gcc(&[&["-o", &program, &source, &includes[0], &includes[1]][..], &objects].concat());
    assert_eq!(run(Path::new(&program)), "agree\n");
    // A shared library exports the functions of the header, and none of a target.
    let library = at("libone.so");
    let own: Vec<&str> = own.iter().map(|it| it.to_str().expect("a plain path")).collect();
    gcc(&[&["-shared", "-o", &library][..], &own].concat());
    let shown =
        Command::new("nm").args(["-D", "--defined-only", &library]).output().expect("nm runs");
    let shown = String::from_utf8(shown.stdout).expect("text");
    let names: Vec<&str> = shown.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    assert!(
        names.contains(&"rectangle80_blocks") && names.contains(&"rectangle80_ctr_xor"),
        "{names:?}"
    );
    assert!(
        !names.iter().any(|set| ["x86_64", "sse", "avx2", "avx512", "neon"]
            .iter()
            .any(|target| set.contains(target))),
        "{names:?}"
    );
}
