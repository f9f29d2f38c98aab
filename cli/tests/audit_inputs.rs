//! What `meanwhile audit` reads besides files of one program, and how its functions are named there:
//! standard input, archives, C++.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::audited;
use audited::{audit, ok, refused};

#[test]
fn assembly_may_come_on_standard_input() {
    use std::io::Write;
    let run = |words: &[&str], assembly: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
        command
            .arg("audit")
            .args(words)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped());
        let mut child =
            command.stderr(std::process::Stdio::piped()).spawn().expect("the binary runs");
        child.stdin.take().expect("a pipe").write_all(assembly.as_bytes()).expect("it reads");
        child.wait_with_output().expect("it ends")
    };
    let function =
        ".globl f\n.type f, %function\nf:\n  ldr x1, [x0]\n  add x0, x1, #1\n  ret\n.size f, .-f\n";
    let ran = run(&["-", "--cpu", "cortex-a53", "--json"], function);
    let object: Value = serde_json::from_slice(&ran.stdout).expect("one object");
    assert_eq!(
        (object["function"].as_str(), object["instructions"].as_u64()),
        (Some("f"), Some(3)),
        "{object}"
    );
    assert_eq!(object["stall_cycles"], 1, "{object}");
    let file = object["findings"][0]["file"].as_str().expect("it has lines");
    assert!(["stdin.s", "./stdin.s"].contains(&file), "{file}");
    assert_eq!(object["skipped"], serde_json::json!([]));
}

#[test]
fn lines_that_the_assembler_does_not_know_are_named_and_nothing_is_concluded_across_them() {
    use std::io::Write;
    for (cpu, load, add, ret) in [
        ("cortex-a53", "ldr x1, [x0]", "add x0, x1, #1", "ret"),
        ("arm1136jf-s", "ldr r1, [r0]", "add r0, r1, #1", "bx lr"),
        ("sifive-u74", "ld a1, 0(a0)", "addi a0, a1, 1", "ret"),
        ("rocket", "ld a1, 0(a0)", "addi a0, a1, 1", "ret"),
        ("leon3", "ld [%o0], %o1", "add %o1, 1, %o0", "retl; nop"),
    ] {
        let assembly = format!(
            ".globl f\n.type f, %function\nf:\n  {load}\n  frobnicate 1\n  .wobble 2\nl: frob 3\n  {add}\n  {ret}\n.size f, .-f\n"
        );
        let assembly = if cpu == "leon3" || cpu.starts_with(['s', 'r']) {
            assembly.replace("%function", "@function")
        } else {
            assembly
        };
        let run = |words: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
            command
                .args(["audit", "-", "--cpu", cpu])
                .args(words)
                .stdin(std::process::Stdio::piped());
            let mut child =
                command.stdout(std::process::Stdio::piped()).spawn().expect("the binary runs");
            child.stdin.take().expect("a pipe").write_all(assembly.as_bytes()).expect("it reads");
            let ran = child.wait_with_output().expect("it ends");
            assert!(ran.status.success(), "{cpu}");
            String::from_utf8(ran.stdout).expect("text")
        };
        let object: Value = serde_json::from_str(&run(&["--json"])).expect("one object");
        let lines: Vec<_> = object["skipped"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|value| value["line"].as_u64())
            .collect();
        assert_eq!(lines, [Some(5), Some(6), Some(7)], "{cpu}: {object}");
        assert_eq!(object["skipped"][0]["text"], "frobnicate 1", "{cpu}");
        assert_eq!(object["undecodable"].as_array().map(Vec::len), Some(2), "{cpu}: {object}");
        let text = run(&[]);
        assert!(text.starts_with("line 5: `frobnicate 1` is not assembled: "), "{cpu}: {text}");
    }
}

/// C++ with two functions of one name, one that is inlined everywhere, as an
/// archive of two members.
fn archive(folder: &Path) {
    let ring = "namespace ring {\nstatic inline int next(int at) { return (at + 1) & 63; }\n__attribute__((noinline)) int push(int at) \
                { return next(at) * 3; }\n__attribute__((noinline)) int push(long at) { return next(int(at)) * 5; }\n}\n\
                int vfs_read(int x) { return ring::push(x) + 1; }\n";
    fs::write(folder.join("ring.cc"), ring).expect("a scratch file");
    fs::write(folder.join("vfs.cc"), "int vfs_write(int x) { return x * 9; }\n")
        .expect("a scratch file");
    let run = |program: &str, args: &[&str]| {
        let ran =
            Command::new(program).args(args).current_dir(folder).status().expect("the tool runs");
        assert!(ran.success(), "{program} {args:?}");
    };
    for name in ["ring", "vfs"] {
        let (source, made) = (format!("{name}.cc"), format!("{name}.o"));
        run(
            "clang-19",
            &[
                "--target=aarch64-linux-gnu",
                "-ffreestanding",
                "-O2",
                "-g",
                "-c",
                &source,
                "-o",
                &made,
            ],
        );
    }
    run("llvm-ar-19", &["rc", "libfs.a", "ring.o", "vfs.o"]);
}

#[test]
fn functions_are_named_as_their_sources_have_them() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    archive(folder);
    let cpu = ["--cpu", "cortex-a53"];
    let shown =
        |file: &str, name: &str| ok(folder, &[&[file, "--function", name], &cpu[..]].concat());
    assert!(shown("ring.o", "ring::push(long)").starts_with("ring::push(long) on cortex-a53"));
    assert!(
        shown("ring.o", "vfs_*").contains("bl ring::push(int)")
            || shown("ring.o", "vfs_*").contains("b ring::push(int)")
    );
    // A line is in the function that it was written in and where that was inlined.
    assert!(shown("ring.o", "ring.cc:6").starts_with("vfs_read(int) on cortex-a53"));
    let refused = |file: &str, name: &str| {
        refused(folder, &[&[file, "--function", name], &cpu[..]].concat(), 1)
    };
    let said = refused("ring.o", "ring::push");
    assert!(
        said.contains("2 functions `ring::push`")
            && said.contains("ring::push(int)")
            && said.contains("ring::push(long)"),
        "{said}"
    );
    let said = refused("ring.o", "ring.cc:2");
    assert!(said.contains("2 functions") && said.contains("--all-functions"), "{said}");
    let said = refused("ring.o", "next");
    let said: String =
        said.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("no code of its own")
            && said.contains("ring::push(int)`")
            && said.contains("--pivot next"),
        "{said}"
    );
    assert!(refused("ring.o", "ring.cc:99").contains("no code comes from line 99"));
}

#[test]
fn an_archive_is_all_its_members() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    archive(folder);
    let args = ["libfs.a", "--all-functions", "--cpu", "cortex-a53"];
    let table: Value =
        serde_json::from_str(&ok(folder, &[&args[..], &["--json"]].concat())).expect("JSON");
    assert_eq!(table["functions"].as_array().map(Vec::len), Some(4), "{table}");
    assert!(
        table["functions"]
            .as_array()
            .expect("a list")
            .iter()
            .any(|value| value["file"] == "libfs.a(vfs.o)"),
        "{table}"
    );
    assert!(ok(folder, &args).contains("vfs_write(int) (vfs.o)"), "{}", ok(folder, &args));
    assert!(ok(folder, &["libfs.a", "--spills", "--cpu", "cortex-a53"]).contains("(ring.o)"));
    let some: Value = serde_json::from_str(&ok(
        folder,
        &[&args[..], &["--function", "vfs_*", "--json"]].concat(),
    ))
    .expect("JSON");
    assert_eq!(some["functions"].as_array().map(Vec::len), Some(2), "{some}");
    assert!(
        ok(folder, &["libfs.a", "--function", "vfs_write", "--cpu", "cortex-a53"])
            .starts_with("vfs_write(int) on")
    );
    fs::write(folder.join("cut.a"), &fs::read(folder.join("libfs.a")).expect("the archive")[..700])
        .expect("a scratch file");
    let said = refused(folder, &["cut.a", "--all-functions", "--cpu", "cortex-a53"], 1);
    assert!(said.contains("damaged"), "{said}");
}

#[test]
fn a_function_of_a_member_is_chosen_by_it_and_a_thin_archive_holds_none() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    for (name, factor) in [("one", 7), ("two", 9)] {
        let text = format!(
            ".globl {name}\n.type helper, %function\nhelper: mov w1, #{factor}\nmul w0, w0, w1\nret\n.size helper, .-helper\n"
        );
        fs::write(folder.join(format!("{name}.s")), text).expect("a scratch file");
        let args =
            ["--target=aarch64-linux-gnu", "-c", &format!("{name}.s"), "-o", &format!("{name}.o")];
        assert!(
            Command::new("clang-19")
                .args(args)
                .current_dir(folder)
                .status()
                .expect("clang-19 runs")
                .success()
        );
    }
    for (flags, name) in [("rc", "both.a"), ("rcT", "thin.a")] {
        let ran =
            Command::new("ar").args([flags, name, "one.o", "two.o"]).current_dir(folder).status();
        assert!(ran.expect("ar runs").success());
    }
    let said = refused(folder, &["both.a", "--function", "helper", "--cpu", "cortex-a53"], 1);
    assert!(said.contains("helper@one.o, helper@two.o"), "{said}");
    let text = ok(folder, &["both.a", "--function", "helper@two.o", "--cpu", "cortex-a53"]);
    assert!(text.contains("#9") && !text.contains("#7"), "{text}");
    let said = refused(folder, &["thin.a", "--function", "helper", "--cpu", "cortex-a53"], 1);
    assert!(said.contains("is a thin archive"), "{said}");
    // An archive in an archive is named, alone or beside an object file.
    for (name, members) in [("nested.a", &["both.a"][..]), ("mixed.a", &["both.a", "one.o"])] {
        assert!(
            Command::new("ar")
                .args([&["rc", name], members].concat())
                .current_dir(folder)
                .status()
                .expect("ar runs")
                .success()
        );
    }
    let said = refused(folder, &["nested.a", "--function", "helper", "--cpu", "cortex-a53"], 1);
    assert!(
        said.contains("`nested.a(both.a)` is an archive in an archive")
            && said.contains("`ar x nested.a both.a`"),
        "{said}"
    );
    let ran = audit(folder, &["mixed.a", "--function", "helper", "--cpu", "cortex-a53"]);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success() && String::from_utf8_lossy(&ran.stdout).contains("#7"), "{said}");
    assert!(said.contains("`mixed.a(both.a)` is an archive in an archive"), "{said}");
}
