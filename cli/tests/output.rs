//! What every command promises: exit codes, one JSON object, a quiet end when nobody reads.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn meanwhile(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(args)
        .env_remove("NO_COLOR")
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("output is UTF-8")
}

#[test]
fn help_and_version_leave_with_0() {
    for args in [&["--help"][..], &["--version"], &["doctor", "--help"]] {
        let ran = meanwhile(args);
        assert_eq!(ran.status.code(), Some(0), "{args:?}");
        assert!(!ran.stdout.is_empty() && ran.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn wrong_arguments_leave_with_1() {
    for args in [&[][..], &["no-such-command"], &["doctor", "--no-such-option"], &["man", "--jsn"]]
    {
        let ran = meanwhile(args);
        assert_eq!(ran.status.code(), Some(1), "{args:?}");
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn wrong_arguments_are_an_object_under_json() {
    for args in [&["--json", "doctr"][..], &["doctor", "--no-such-option", "--json"]] {
        let ran = meanwhile(args);
        assert_eq!(ran.status.code(), Some(1), "{args:?}");
        let answer: Value = serde_json::from_slice(&ran.stdout).expect("the answer is JSON");
        assert_eq!(answer["ok"], false);
        let error = &answer["errors"][0];
        let keys: Vec<&String> = error.as_object().expect("an error is an object").keys().collect();
        assert_eq!(keys, ["file", "line", "column", "message", "help"]);
        assert!(error["message"].as_str().is_some_and(|text| text.contains(args[1])), "{error}");
    }
}

#[test]
fn no_colours_outside_a_terminal() {
    for args in [&["doctor"][..], &["no-such-command"]] {
        let ran = meanwhile(args);
        assert!(
            !text(&ran.stdout).contains('\u{1b}') && !text(&ran.stderr).contains('\u{1b}'),
            "{args:?}"
        );
    }
}

#[test]
fn doctor_answers_with_one_object() {
    let ran = meanwhile(&["doctor", "--json"]);
    let answer: Value = serde_json::from_slice(&ran.stdout).expect("the answer is JSON");
    assert_eq!(ran.status.code(), Some(i32::from(answer["ok"] != true)));
    assert!(answer["rows"].as_array().is_some_and(|rows| rows.len() > 3));
    assert_eq!(text(&ran.stdout).lines().count(), 1);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let (reader, writer) = std::io::pipe().expect("the kernel gives a pipe");
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
    let child = command
        .arg("--help")
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let ran = child.wait_with_output().expect("the binary ends");
    assert_eq!(text(&ran.stderr), "");
    assert_eq!(ran.status.code(), Some(0));
}

/// Help is what a script asked for, so under `--json` it is in the object.
#[test]
fn help_and_version_are_an_object_under_json() {
    for (args, wanted) in [
        (&["--json", "--help"][..], "Usage: meanwhile"),
        (&["cipher", "compile", "--json", "-h"], "Usage: meanwhile cipher compile"),
        (&["--version", "--json"], "meanwhile "),
    ] {
        let ran = meanwhile(args);
        assert_eq!(ran.status.code(), Some(0), "{args:?}");
        let answer: Value = serde_json::from_slice(&ran.stdout).expect("the answer is JSON");
        assert_eq!(answer["ok"], true, "{args:?}");
        assert!(
            answer["text"].as_str().is_some_and(|text| text.contains(wanted)),
            "{args:?}: {answer}"
        );
    }
}

/// Every command that ends within a second and needs no tool; the others go
/// through the same function.
#[test]
fn every_object_says_whether_it_is_ok() {
    for args in [
        &["cipher", "list"][..],
        &["cipher", "check", "rectangle-80"],
        &["cipher", "compile", "rectangle-80"],
        &["audit", "cpus"],
        &["cosched", "sim", "a1", "--policy", "rr"],
        &["doctor"],
    ] {
        let ran = meanwhile(&[args, &["--json"]].concat());
        let answer: Value =
            serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}"));
        assert!(answer["ok"].is_boolean(), "{args:?}");
    }
}

/// What failed is a file, so nothing that installs tools helps.
#[test]
fn the_doctor_is_named_only_for_a_missing_tool() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("x.c"), "int f(int x) { return x; }\n").expect("written");
    let run = |args: &[&str], path: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
        command.args(args).env("PATH", path).current_dir(folder.path());
        let ran = command.output().expect("the binary runs");
        assert_eq!(ran.status.code(), Some(2), "{args:?}");
        text(&ran.stderr).to_owned()
    };
    let all = std::env::var("PATH").expect("a PATH");
    let unwritable = run(&["cipher", "compile", "rectangle-80", "-o", "x.c/new"], &all);
    assert!(!unwritable.contains("doctor") && unwritable.contains("x.c/new"), "{unwritable}");
    let failed = run(&["audit", "x.c", "--cc", "false", "--cpu", "arm1136jf-s"], &all);
    assert!(!failed.contains("doctor"), "{failed}");
    let missing = run(&["audit", "x.c", "--cpu", "arm1136jf-s"], "/nowhere");
    assert!(
        missing.contains("arm-linux-gnueabi")
            && missing.contains("`meanwhile doctor` lists the tools"),
        "{missing}"
    );
}

#[test]
fn the_doctor_says_versions_and_not_command_lines() {
    let answer: Value = serde_json::from_slice(&meanwhile(&["doctor", "--json"]).stdout)
        .expect("the answer is JSON");
    let versions: Vec<&str> = answer["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|value| value["version"].as_str())
        .collect();
    assert!(!versions.is_empty());
    for version in versions {
        let is_one =
            version.contains(|letter: char| letter.is_ascii_digit()) && !version.contains('\n');
        assert!(is_one && !version.contains(" -I") && !version.contains(" -L"), "`{version}`");
    }
}

#[test]
fn one_is_one_and_two_are_two() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = "a:\n add r0, r0, r1\n bx lr\n";
    std::fs::write(
        folder.path().join("x.s"),
        format!(".text\n.globl a\n.type a, %function\n{source}.size a, .-a\n"),
    )
    .expect("written");
    let path = folder.path().join("x.s");
    let ran = meanwhile(&["audit", path.to_str().expect("text"), "--cpu", "arm1136jf-s"]);
    for line in text(&ran.stdout).lines().chain(text(&ran.stderr).lines()) {
        let words: Vec<&str> = line
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|part| !part.is_empty())
            .collect();
        for pair in words.windows(2).filter(|window| window[0] == "1") {
            assert!(
                !["instructions", "cycles", "findings", "sites", "programs", "functions"]
                    .contains(&pair[1]),
                "{line}"
            );
        }
    }
}

/// A folder whose name is no UTF-8 is a folder; JSON shows it as well as it can.
#[test]
fn names_that_are_no_text_are_names() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = tempfile::tempdir().expect("a scratch folder");
    for command in [&["man", "--json"][..], &["regwin", "build", "--json", "-o"]] {
        let folder = scratch.path().join(std::ffi::OsStr::from_bytes(b"\xff\xfe")).join(command[0]);
        let mut meanwhile = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
        let ran = meanwhile.args(command).arg(&folder).output().expect("the binary runs");
        assert_eq!(ran.status.code(), Some(0), "{command:?}: {}", text(&ran.stderr));
        let answer: Value = serde_json::from_slice(&ran.stdout).expect("the answer is JSON");
        assert!(
            answer["folder"].as_str().is_some_and(|text| text.contains('\u{fffd}')),
            "{answer}"
        );
        assert!(folder.is_dir(), "{command:?}");
    }
}

/// A tool that is there and does not say its version is not missing; one that is not there is.
#[test]
fn a_tool_that_does_not_say_its_version_is_there() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let tool = folder.path().join("srun");
    std::fs::write(&tool, "#!/bin/sh\necho no configuration >&2\nexit 1\n").expect("written");
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("it is ours");
    let doctor = || {
        let mut meanwhile = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
        let ran = meanwhile
            .args(["doctor", "--system", "cosched", "--json"])
            .env("PATH", folder.path())
            .output()
            .expect("the binary runs");
        let answer: Value = serde_json::from_slice(&ran.stdout).expect("the answer is JSON");
        assert_eq!(
            (ran.status.code(), &answer["ok"]),
            (Some(1), &Value::from(false)),
            "tools are missing"
        );
        let rows = answer["rows"].as_array().expect("rows").clone();
        rows.into_iter()
            .map(|row| (row["tool"].as_str().expect("a name").to_owned(), row["present"] == true))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        doctor().iter().filter(|pair| pair.1).map(|pair| pair.0.as_str()).collect::<Vec<_>>(),
        ["srun"]
    );
    std::fs::remove_file(&tool).expect("it was there");
    assert!(doctor().iter().all(|pair| !pair.1));
}

/// Names and options that mean nothing are refused before anything runs, with what was meant.
#[test]
fn what_would_do_nothing_is_refused() {
    for (args, words) in [
        ("report --only audit", "this is `meanwhile-lab report` now"),
        ("doctor --system regwn", "a similar value exists: 'regwin'"),
        ("completions tcsh", "tcsh"),
        ("cipher compile aes-128 -X budget=3", "add --emit asm"),
        ("cipher compile aes-128 --unroll no", "this is `-X unroll=VALUE` now"),
        ("cipher validate aes-128 --emit asm -X inline=none", "leave -X inline out"),
        ("cipher validate aes-128 --emit asm --arch neon", "neon"),
        ("cipher speed aes-182", "aes-128"),
    ] {
        let ran = meanwhile(&args.split(' ').collect::<Vec<_>>());
        assert_eq!(
            (ran.status.code(), text(&ran.stderr).contains(words)),
            (Some(1), true),
            "{args}: {}",
            text(&ran.stderr)
        );
        assert!(ran.stdout.is_empty(), "{args}");
    }
}
