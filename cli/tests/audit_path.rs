//! `meanwhile audit --path`: the hot path as a run of the program took it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// One way divides by 7 (a product with a constant), the other multiplies by 3 (an addition of
/// twice the value). Which one runs, the first argument decides.
const SOURCE: &str = "\
#include <stdlib.h>
int sum;
__attribute__((noinline)) int step(int x)
{
    if (x & 1) {
        sum += 3 * x;
        sum ^= 5;
    } else
        sum -= x / 7;
    for (int i = 0; i < (x & 3); i++)
        sum += i * x;
    return sum;
}
int main(int argc, char **argv)
{
    int odd = argc > 1;
    for (int i = 0; i < 500; i++)
        step(2 * i + (i % 10 == 0 ? !odd : odd));
    return 0;
}
";

fn run(folder: &Path, program: &str, args: &[&str]) -> Output {
    let ran = Command::new(program).args(args).current_dir(folder).output();
    let ran = ran.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(ran.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    ran
}

/// The program, statically linked for AArch64.
fn built(flags: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::write(folder.path().join("p.c"), SOURCE).expect("a scratch file");
    run(
        folder.path(),
        "aarch64-linux-gnu-gcc",
        &[&["-O1", "-g", "-static", "p.c", "-o", "p"], flags].concat(),
    );
    folder
}

fn audit(folder: &Path, path: &[&str]) -> Output {
    let args = [&["audit", "p", "--function", "step", "--cpu", "cortex-a53"], path].concat();
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the binary runs")
}

fn json(folder: &Path, path: &[&str]) -> Value {
    let ran = audit(folder, &[path, &["--json"]].concat());
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).expect("JSON")
}

fn text(folder: &Path, path: &[&str]) -> String {
    let ran = audit(folder, path);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("text")
}

#[test]
fn qemus_log_of_blocks_chooses_the_path() {
    let folder = built(&[]);
    let folder = folder.path();
    run(folder, "qemu-aarch64", &["-d", "exec,nochain", "-D", "even.log", "./p"]);
    run(folder, "qemu-aarch64", &["-d", "exec,nochain", "-D", "odd.log", "./p", "odd"]);
    let (even, odd) = (text(folder, &["--path", "even.log"]), text(folder, &["--path", "odd.log"]));
    assert!(even.contains("smull") && !even.contains("w0, lsl #1"), "{even}");
    assert!(odd.contains("w0, lsl #1") && !odd.contains("smull"), "{odd}");
    assert!(even.contains("path as recorded (") && even.contains(" blocks)"), "{even}");
    let path = &json(folder, &["--path", "even.log"])["path"];
    // Nine tenths of the calls are even; half of these pass the loop by.
    assert!(
        path["branches"].as_u64() >= Some(2) && path["least_share"].as_f64() >= Some(0.4),
        "{path}"
    );
    // x & 3 is 2 for the 250 odd i, 1 for the 50 odd values, and 0 for the others, which do not
    // enter the loop.
    assert_eq!(
        json(folder, &["--path", "even.log"])["loops"][0]["rounds"].as_f64(),
        Some(550.0 / 300.0)
    );
    let plain = json(folder, &[]);
    assert_eq!(
        (&plain["path"]["recorded"], &plain["loops"][0]["rounds"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn a_list_of_addresses_and_a_moved_program() {
    let folder = built(&[]);
    let folder = folder.path();
    // QEMU 8.1 gave the option another name, and QEMU 9 took the old one away.
    let help = String::from_utf8(run(folder, "qemu-aarch64", &["--help"]).stdout).expect("text");
    let step = if help.contains("one-insn-per-tb") { "-one-insn-per-tb" } else { "-singlestep" };
    run(folder, "qemu-aarch64", &["-d", "exec,nochain", "-D", "even.log", step, "./p"]);
    // With one instruction a block the log is a trace of instructions, here as a debugger lists it,
    // 0x10000 further on.
    let log = fs::read_to_string(folder.join("even.log")).expect("the log");
    let addresses =
        log.lines().filter_map(|line| u64::from_str_radix(line.split(['[', '/']).nth(2)?, 16).ok());
    let list: String = addresses
        .enumerate()
        .map(|(nth, it)| format!("-{nth:010} | P:{:#010x} ptrace\n", it + 0x1_0000))
        .collect();
    fs::write(folder.join("list.txt"), list).expect("a scratch file");
    let moved = text(folder, &["--path", "list.txt@0x10000"]);
    assert!(moved.contains("smull") && moved.contains(" instructions)"), "{moved}");
    let ran = audit(folder, &["--path", "list.txt"]);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(
        said.contains("did not run in the recording") && said.contains("--path FILE@ADDRESS"),
        "{said}"
    );
}

#[test]
fn counts_of_lines_choose_the_path() {
    let folder = built(&[]);
    let folder = folder.path();
    let count = |line: usize| match line {
        5 => "500",
        6 | 7 => "#####",
        9 => "500*",
        10..=12 => "500",
        _ => "-",
    };
    let lines: String = SOURCE
        .lines()
        .enumerate()
        .map(|(nth, it)| format!("{:>9}:{:>5}:{it}\n", count(nth + 1), nth + 1))
        .collect();
    fs::write(folder.join("p.c.gcov"), format!("        -:    0:Source:p.c\n{lines}"))
        .expect("a scratch file");
    let even = text(folder, &["--path", "p.c.gcov"]);
    assert!(even.contains("smull") && !even.contains("w0, lsl #1"), "{even}");
    assert!(even.contains("counts of"), "{even}");
}

#[test]
fn what_is_no_recording_is_refused() {
    let folder = built(&[]);
    let folder = folder.path();
    fs::write(folder.join("empty.txt"), "nothing to see\n").expect("a scratch file");
    for (path, part) in [
        ("empty.txt", "holds no addresses"),
        ("/dev/null", "holds no addresses"),
        ("missing.log", "there is no file"),
        (".", "is a folder"),
    ] {
        let ran = audit(folder, &["--path", path]);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(1), "{said}");
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn functions_that_ran_are_ranked_by_what_they_lost_in_all() {
    let folder = built(&[]);
    let folder = folder.path();
    run(folder, "qemu-aarch64", &["-d", "exec,nochain", "-D", "even.log", "./p"]);
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args([
            "audit",
            "p",
            "--all-functions",
            "--cpu",
            "cortex-a53",
            "--path",
            "even.log",
            "--json",
        ])
        .current_dir(folder)
        .output()
        .expect("the binary runs");
    let table: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let functions = table["functions"].as_array().expect("a list");
    let step = functions.iter().find(|function| function["function"] == "step").expect("it ran");
    assert_eq!(step["runs"], 500);
    let lost = |value: &Value| value["lost_cycles"].as_u64().expect("a number");
    assert_eq!(
        lost(step),
        500 * (step["total_cycles"].as_u64().unwrap()
            - step["lower_bound"]["total"].as_u64().unwrap())
    );
    assert!(
        functions.windows(2).all(|window| lost(&window[0]) >= lost(&window[1]))
            && functions.len() < 400,
        "{}",
        functions.len()
    );
    assert!(
        functions.iter().all(|function| function["function"] != "abort"),
        "what did not run is left out"
    );
}

/// The first line says what chose the path, and lines of the source force it.
#[test]
fn lines_force_the_path() {
    let folder = built(&[]);
    let folder = folder.path();
    let first = |path: &[&str]| text(folder, path).lines().next().expect("a line").to_owned();
    assert!(first(&[]).ends_with(" on the hot path, as predicted"), "{}", first(&[]));
    assert_eq!(json(folder, &[])["path"]["by"], "predicted");
    let [odd, even] = ["p.c:6", "p.c:9"].map(|line| text(folder, &["--through", line]));
    assert!(odd.contains("w0, lsl #1") && !odd.contains("smull"), "{odd}");
    assert!(even.contains("smull") && !even.contains("w0, lsl #1"), "{even}");
    let forced = first(&["--through", "p.c:6"]);
    assert!(forced.ends_with(" on the hot path, as forced"), "{forced}");
    // The branch is sure then, so the line about it is another one.
    let listing = |said: &str| said.split("line source").nth(1).map(str::to_owned);
    assert_eq!(listing(&text(folder, &["--avoid", "p.c:9"])), listing(&odd));
    assert_eq!(json(folder, &["--avoid", "p.c:6"])["path"]["by"], "forced");
    // A run says something else, and what is forced counts.
    run(folder, "qemu-aarch64", &["-d", "exec,nochain", "-D", "even.log", "./p"]);
    let both = text(folder, &["--path", "even.log", "--through", "p.c:7"]);
    assert!(both.contains("path as forced, and as recorded ("), "{both}");
    assert!(!both.contains("smull"), "{both}");
}

#[test]
fn a_path_that_there_is_none_of_is_refused() {
    let folder = built(&[]);
    let folder = folder.path();
    for (args, part) in [
        (&["--through", "p.c:6", "--avoid", "p.c:7"][..], "passes line 7 of `p.c`"),
        (&["--through", "p.c:6", "--avoid", "p.c:6"], "passes line 6 of `p.c`"),
        (&["--avoid", "p.c:13"], "every path of `step` that can be taken passes line 13"),
        (&["--through", "p.c:400"], "no code of `step` comes from line 400 of `p.c`"),
        (&["--through", "other.c:6"], "no code of `step` comes from line 6 of `other.c`"),
        (&["--through", "step"], "it is FILE:LINE"),
        (&["--cold", "abort"], "--avoid SYMBOL"),
        (&["--path", "even.log", "--path-base", "0x10000"], "--path FILE@ADDRESS"),
    ] {
        let ran = audit(folder, args);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains(part), "{args:?}: {said}");
    }
    let ran = audit(folder, &["--through", "p.c:400"]);
    assert!(String::from_utf8_lossy(&ran.stderr).contains("lines with code near it are"));
}
