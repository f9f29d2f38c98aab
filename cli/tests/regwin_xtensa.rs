//! `meanwhile regwin build` and `run` for Xtensa, as a user calls them.

use std::process::{Command, Output};

fn has_tools() -> bool {
    let tools = ["clang-22", "llvm-mc-22", "xtensa-lx106-elf-ld", "qemu-system-xtensa"];
    testkit::has("regwin: Xtensa", &tools)
}

fn regwin(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .arg("regwin")
        .args(arguments)
        .output()
        .expect("the binary runs")
}

fn refused(arguments: &[&str], says: &str) {
    let out = regwin(arguments);
    let text = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{arguments:?}: {text}");
    assert!(text.contains(says), "{arguments:?}: {text}");
}

#[test]
fn the_example_is_built_and_counted() {
    if !has_tools() {
        return;
    }
    let folder = measure::scratch::folder().expect("a folder");
    let at = folder.path().join("rw");
    let at = at.to_str().expect("a name");
    let built =
        regwin(&["build", "--target", "xtensa", "--options", "preempt", "-o", at, "--json"]);
    let built = testkit::json(&built);
    assert_eq!((&built["target"], &built["scheme"]), (&"xtensa".into(), &"ns".into()));
    for core in ["dc232b", "dc233c"] {
        let core_is = format!("CORE={core}");
        let made = Command::new("make").args(["-s", "-B", "-C", at, &core_is]).output();
        let made = made.expect("make starts");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let image = format!("{at}/example.elf");
        let ran = testkit::json(&regwin(&["run", &image, "--json"]));
        assert_eq!(ran["core"], core);
        assert_eq!(ran["console"], "1 1 2 3 5 8 13 21 34 55\n3 ticks later\nregwin: done\n");
        assert!(ran["overflows"][1].as_u64() > Some(20), "{ran}");
        assert!(ran["cycles"].is_null(), "unknown is not 0");
        let cut = testkit::json(&regwin(&["run", &image, "--limit", "500", "--json"]));
        assert_eq!((&cut["ended"], &cut["instructions"]), (&"limit".into(), &500.into()));
        refused(&["run", &image, "--on", "sim"], "the simulator is for SPARC");
        refused(&["run", &image, "--windows", "16"], "has 32 registers");
        refused(&["profile", &image], "not for SPARC");
        refused(&["wcet", &image], "`wcet` bounds what is linked for SPARC");
        refused(&["errata", &image], "give an ELF file of SPARC's 32 bits");
    }
}

#[test]
fn what_there_is_not_for_xtensa_is_refused_with_what_there_is() {
    let folder = measure::scratch::folder().expect("a folder");
    let at = folder.path().join("rw");
    let build = ["build", "--target", "xtensa", "-o", at.to_str().expect("a name")];
    let with = |more: &[&'static str]| [build.as_slice(), more].concat();
    refused(&with(&["--scheme", "snp"]), "there are ns and sp");
    refused(&with(&["--scheme", "adaptive"]), "no scheme `adaptive` for Xtensa");
    refused(&with(&["--options", "fpu"]), "there are working-set, priorities, preempt, unchecked");
    refused(&with(&["--options", "preempt,tls"]), "no option `tls`");
    refused(&with(&["--cc", "gcc"]), "no gcc of Debian makes windowed code");
    refused(&with(&["--scheme", "ns", "--options", "working-set"]), "`ns` has no `working-set`");
    refused(&with(&["--options", "working-set"]), "or use --scheme sp");
    assert!(!at.exists(), "nothing is written");
}
