//! `meanwhile demo`: each system in an empty folder, which stays empty.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use testkit::json;

fn demo(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
    command.arg("demo").args(arguments).current_dir(folder).output().expect("it starts")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn systems_without_tools_show_something_in_an_empty_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (system, parts) in [
        (
            "audit",
            &["$ meanwhile audit checksum.o --cpu cortex-a53", "lower bound", "line source"][..],
        ),
        ("cipher", &["$ meanwhile cipher compile lea.ua", "equations"]),
        ("cosched", &["$ meanwhile cosched sim b2", "pairing"]),
    ] {
        let shown = demo(folder.path(), &[system]);
        assert!(shown.status.success(), "{system}: {}", String::from_utf8_lossy(&shown.stderr));
        for part in parts.iter().chain(&["with your own: meanwhile"]) {
            assert!(text(&shown).contains(part), "{system} lacks `{part}`: {}", text(&shown));
        }
        let answer = json(&demo(folder.path(), &[system, "--json"]));
        assert_eq!(answer["commands"][0]["answer"]["ok"], true, "{system}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 0, "nothing is left");
}

#[test]
fn no_home_and_no_folder_for_scratch_files_is_enough() {
    let shown = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["demo", "audit"])
        .current_dir("/")
        .env_clear()
        .envs([("HOME", "/nonexistent"), ("TMPDIR", "/nonexistent")])
        .output()
        .expect("it starts");
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    assert!(text(&shown).contains("lower bound"), "{}", text(&shown));
}

#[test]
fn the_sources_of_the_object_are_shown_beside_its_code() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let shown = text(&demo(folder.path(), &["audit"]));
    assert!(shown.contains("sum += words[i];"), "{shown}");
}

#[test]
fn without_a_system_it_says_what_there_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let shown = text(&demo(folder.path(), &[]));
    for system in ["audit", "cipher", "overlap", "regwin", "cosched"] {
        assert!(shown.contains(&format!("meanwhile demo {system}")), "{shown}");
    }
    let refused = demo(folder.path(), &["audio"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("audit"));
}
