//! The case study: its page's diffs lead from the first version to the last, its cycles are those
//! of the model, and all versions do the same on random kernels.

use crate::support::compilers;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const GCC: (&str, &str) = ("arm-linux-gnueabi-gcc -marm", "-O2 -fno-pic");
const TUNED: (&str, &str) = (
    "arm-linux-gnueabi-gcc -marm",
    "-O2 -fno-pic -mtune=cortex-a9 -fno-schedule-insns -fno-shrink-wrap",
);
const CLANG: (&str, &str) = ("clang-19", "-O2 -fno-pic -ffreestanding");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("cli lies in the root folder").to_owned()
}

fn example(name: &str) -> PathBuf {
    root().join("examples/fastpath").join(name)
}

fn page() -> String {
    fs::read_to_string(root().join("docs/explain/fastpath.md")).expect("the page is there")
}

/// The audit of `fastpath_call` in a file, as JSON.
fn audit(file: &Path, compiler: (&str, &str)) -> Value {
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args([
            "audit",
            "--function",
            "fastpath_call",
            "--cpu",
            "arm1136jf-s",
            "--avoid",
            "slowpath",
            "--json",
        ])
        .args(["--cc", compiler.0, "--cflags", compiler.1])
        .arg(file)
        .output()
        .expect("the binary runs");
    let answer: Value = serde_json::from_slice(&ran.stdout).expect("the answer is JSON");
    assert_eq!(answer["ok"], true, "{}: {answer}", file.display());
    answer
}

fn cycles(file: &Path, compiler: (&str, &str)) -> u64 {
    audit(file, compiler)["total_cycles"].as_u64().expect("the core is in order")
}

/// What the table of the page says in the row that begins so: the numbers of its cells.
fn said(page: &str, row: &str) -> Vec<u64> {
    let line = page
        .lines()
        .find(|line| line.starts_with('|') && line.contains(row))
        .unwrap_or_else(|| panic!("no row {row}"));
    line.split('|').skip(2).filter_map(|cell| cell.trim().parse().ok()).collect()
}

/// A folder with the header and `fastpath.c` as it is after each step, the original first.
fn steps() -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let copy = |from: PathBuf, to: &str| {
        fs::copy(&from, folder.path().join(to))
            .unwrap_or_else(|error| panic!("{}: {error}", from.display()))
    };
    copy(example("kernel.h"), "kernel.h");
    copy(example("original.c"), "fastpath.c");
    copy(example("original.c"), "step0.c");
    let mut files = vec![folder.path().join("step0.c")];
    let page = page();
    for (idx, diff) in page.split("```diff\n").skip(1).enumerate() {
        let diff = diff.split("```").next().expect("a block ends");
        fs::write(folder.path().join("step.diff"), diff).expect("a scratch file");
        let ran = Command::new("patch")
            .args(["--quiet", "fastpath.c", "step.diff"])
            .current_dir(folder.path())
            .output()
            .expect("patch runs");
        assert!(ran.status.success(), "step {}: {}", idx + 1, String::from_utf8_lossy(&ran.stdout));
        let file = folder.path().join(format!("step{}.c", idx + 1));
        fs::copy(folder.path().join("fastpath.c"), &file).expect("a scratch file");
        files.push(file);
    }
    (folder, files)
}

#[test]
fn the_steps_lead_from_the_original_to_the_improved_version() {
    let (_folder, files) = steps();
    assert!(files.len() > 3);
    let last = fs::read_to_string(files.last().expect("there are steps")).expect("a scratch file");
    assert_eq!(last, fs::read_to_string(example("improved.c")).expect("it is there"));
}

#[test]
fn the_page_has_the_cycles_of_the_model() {
    if !compilers::compiles_as_the_pages("arm-linux-gnueabi-gcc", "docs/explain/fastpath.md") {
        return;
    }
    let page = page();
    let (_folder, files) = steps();
    for (idx, file) in files.iter().enumerate() {
        let row = if idx == 0 { "[original.c]".to_owned() } else { format!("| {idx}. ") };
        assert_eq!(said(&page, &row), [cycles(file, GCC), cycles(file, CLANG)], "{row}");
    }
    assert_eq!(said(&page, "with tuned flags"), [cycles(&example("improved.c"), TUNED)]);
    assert_eq!(said(&page, "[edited.s]"), [cycles(&example("edited.s"), GCC)]);
    let scratch = audit(&example("fastpath.s"), GCC);
    assert_eq!(
        said(&page, "[fastpath.s]"),
        [scratch["total_cycles"].as_u64().expect("the core is in order")]
    );
    assert_eq!(
        said(&page, "| the assembly"),
        [scratch["lower_bound"]["total"].as_u64().expect("it has a bound")]
    );
}

#[test]
fn assembly_is_near_its_bound_and_c_near_assembly() {
    let scratch = audit(&example("fastpath.s"), GCC);
    let (assembly, bound) =
        (scratch["total_cycles"].as_u64(), scratch["lower_bound"]["total"].as_u64());
    let (assembly, bound) =
        (assembly.expect("the core is in order"), bound.expect("it has a bound"));
    assert!(100 * assembly <= 105 * bound, "assembly {assembly}, bound {bound}");
    let c = cycles(&example("improved.c"), CLANG);
    assert!(100 * c <= 105 * assembly, "C {c}, assembly {assembly}");
}

/// The assembly says in which cycle each instruction starts.
#[test]
fn the_comments_of_the_assembly_are_right() {
    let text = fs::read_to_string(example("fastpath.s")).expect("it is there");
    let comments: Vec<u64> = text
        .lines()
        .filter(|line| line.starts_with("        ") && !line.trim_start().starts_with(['@', '.']))
        .filter_map(|line| line.split('@').nth(1)?.split_whitespace().next()?.parse().ok())
        .collect();
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args([
            "audit",
            "--function",
            "fastpath_call",
            "--cpu",
            "arm1136jf-s",
            "--avoid",
            "slowpath",
        ])
        .arg(example("fastpath.s"))
        .output()
        .expect("the binary runs");
    let shown = String::from_utf8_lossy(&ran.stdout).into_owned();
    let rows = shown.lines().skip_while(|line| !line.starts_with(" line source")).skip(1);
    let starts: Vec<u64> = rows.map_while(|row| row.get(55..60)?.trim().parse().ok()).collect();
    assert_eq!(comments, starts);
    assert!(starts.len() > 40);
}

/// What the harness prints for one version.
fn run(folder: &Path, version: &Path, compiler: (&str, &str), seed: u64) -> String {
    let object = folder.join("version.o");
    let mut words = compiler.0.split(' ');
    let mut compile = Command::new(words.next().expect("a compiler has a name"));
    if compiler == CLANG {
        compile.args(["--target=arm-linux-gnueabi", "-marm"]);
    }
    compile
        .args(words)
        .args(compiler.1.split(' '))
        .arg("-mcpu=arm1136jf-s")
        .arg("-I")
        .arg(root().join("examples/fastpath"));
    let made =
        compile.arg("-c").arg(version).arg("-o").arg(&object).output().expect("the compiler runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let program = folder.join("harness");
    let mut link = Command::new("arm-linux-gnueabi-gcc");
    link.args([
        "-marm",
        "-mcpu=arm1136jf-s",
        "-O2",
        "-static",
        "-no-pie",
        "-fno-pic",
        "-Wall",
        "-Werror",
        "-z",
        "noexecstack",
        "-o",
    ]);
    let made = link
        .arg(&program)
        .arg(example("harness.c"))
        .arg(&object)
        .output()
        .expect("the compiler runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let ran = Command::new("qemu-arm")
        .arg(&program)
        .args(["20000", &seed.to_string()])
        .output()
        .expect("qemu-arm runs");
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{}, seed {seed}: {text}", version.display());
    text
}

#[test]
fn all_versions_do_the_same() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (_steps, files) = steps();
    for seed in [1, 20_121] {
        let first = run(folder.path(), &example("original.c"), GCC, seed);
        let n_fast: u64 = first
            .split(", ")
            .nth(1)
            .and_then(|part| part.split(' ').next()?.parse().ok())
            .expect("it counts");
        assert!((4000..16000).contains(&n_fast), "both paths are taken often: {first}");
        for file in files.iter().skip(1) {
            assert_eq!(
                run(folder.path(), file, GCC, seed),
                first,
                "{}, seed {seed}",
                file.display()
            );
            assert_eq!(
                run(folder.path(), file, CLANG, seed),
                first,
                "{}, seed {seed}",
                file.display()
            );
        }
        assert_eq!(run(folder.path(), &example("improved.c"), TUNED, seed), first, "seed {seed}");
        for name in ["edited.s", "fastpath.s"] {
            assert_eq!(
                run(folder.path(), &example(name), ("arm-linux-gnueabi-gcc", "-marm"), seed),
                first,
                "{name}, seed {seed}"
            );
        }
    }
}
