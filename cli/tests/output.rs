//! What every command promises: exit codes, one JSON object, a quiet end when nobody reads.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn meanwhile(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile")).args(args).env_remove("NO_COLOR").output().expect("the binary runs")
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
    for args in [&[][..], &["no-such-command"], &["doctor", "--no-such-option"], &["report", "--out"]] {
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
        assert!(error["message"].as_str().is_some_and(|it| it.contains(args[1])), "{error}");
    }
}

#[test]
fn no_colours_outside_a_terminal() {
    for args in [&["doctor"][..], &["no-such-command"]] {
        let ran = meanwhile(args);
        assert!(!text(&ran.stdout).contains('\u{1b}') && !text(&ran.stderr).contains('\u{1b}'), "{args:?}");
    }
}

#[test]
fn doctor_answers_with_one_object() {
    let ran = meanwhile(&["doctor", "--json"]);
    assert_eq!(ran.status.code(), Some(0));
    let answer: Value = serde_json::from_slice(&ran.stdout).expect("the answer is JSON");
    assert!(answer["rows"].as_array().is_some_and(|rows| rows.len() > 3));
    assert_eq!(text(&ran.stdout).lines().count(), 1);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let (reader, writer) = std::io::pipe().expect("the kernel gives a pipe");
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
    let child = command.arg("--help").stdout(writer).stderr(Stdio::piped()).spawn().expect("the binary runs");
    let ran = child.wait_with_output().expect("the binary ends");
    assert_eq!(text(&ran.stderr), "");
    assert_eq!(ran.status.code(), Some(0));
}
