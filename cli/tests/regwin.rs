//! `meanwhile regwin` on the command line: what it prints, and what it says about wrong input.

use std::process::{Command, Output};

fn meanwhile(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile")).arg("regwin").args(args).output().expect("the binary runs")
}

fn json(args: &[&str]) -> (serde_json::Value, i32) {
    let ran = meanwhile(args);
    let value =
        serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}: {}", String::from_utf8_lossy(&ran.stderr)));
    (value, ran.status.code().expect("it was not killed"))
}

fn scenario(text: &str, args: &[&str]) -> (String, i32) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("my.txt");
    std::fs::write(&path, text).expect("a scratch file");
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .current_dir(folder.path())
        .args(["regwin", "scenario", "my.txt"])
        .args(args)
        .output()
        .expect("the binary runs");
    (
        String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr),
        ran.status.code().expect("it was not killed"),
    )
}

#[test]
fn one_run_in_both_worlds() {
    let of = |world| json(&["run", "--scheme", "sp", "--windows", "7", "--behaviour", "high-coarse", "--on", world, "--json"]);
    let ((mut real, code), (mut sim, _)) = (of("qemu"), of("sim"));
    assert_eq!(code, 0);
    assert_eq!((real["on"].take(), sim["on"].take()), ("qemu".into(), "sim".into()));
    assert_eq!(real, sim);
    let keys = [
        "scheme",
        "windows",
        "behaviour",
        "schedule",
        "machine",
        "switches",
        "saves",
        "restores",
        "overflows",
        "underflows",
        "spilled",
        "restored",
        "cycles",
        "mean_switch_cycles",
        "worst_switch_cycles",
        "trap_probability",
        "output_sha256",
    ];
    assert!(keys.iter().all(|key| !real[key].is_null()), "{real}");
    let cycles = &real["cycles"];
    let parts: u64 = ["application", "traps", "switches"].iter().map(|it| cycles[it].as_u64().expect("a number")).sum();
    assert_eq!(cycles["total"], parts);
}

#[test]
fn wrong_names_and_numbers_are_refused() {
    let refusals = [
        (vec!["run", "--scheme", "sq"], "there is no scheme `sq`"),
        (vec!["run", "--scheme", "sp", "--windows", "3"], "3 is not in 4..=32"),
        (vec!["run", "--scheme", "sp", "--windows", "33"], "33 is not in 4..=32"),
        (vec!["run", "--scheme", "sp", "--behaviour", "high-fin"], "did you mean `high-fine`?"),
        (vec!["run", "--scheme", "sp", "--machine", "leon4"], "did you mean `leon3`?"),
        (vec!["run", "--scheme", "flat", "--cc", "clang"], "clang cannot compile without windows"),
        (vec!["scenario", "no/such/file.txt"], "cannot read `no/such/file.txt`"),
    ];
    for (args, said) in refusals {
        let ran = meanwhile(&args);
        let text = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{args:?}: {text}");
        assert!(text.contains(said), "{args:?}: {text}");
    }
}

#[test]
fn a_scenario_in_both_worlds() {
    let (text, code) = scenario(include_str!("../../systems/regwin/scenarios/ping-pong.txt"), &["--scheme", "snp"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("QEMU and the simulator count the same."), "{text}");
}

#[test]
fn a_deadlock_names_threads_and_streams() {
    let text = "stream a 1\nstream b 1\nthread one\nget a 1\nput b 1\nthread two\nget b 1\nput a 1\n";
    for world in ["qemu", "sim"] {
        let (said, code) = scenario(text, &["--on", world]);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("stuck one waits for bytes in a") && said.contains("stuck two waits for bytes in b"), "{said}");
    }
}

#[test]
fn a_wrong_scenario_is_shown_with_its_line() {
    let (said, code) = scenario("stream a 1\nthread one\n  putt a 1\n", &[]);
    assert_eq!(code, 1);
    assert!(said.contains("my.txt:3:3") && said.contains("did you mean `put`?"), "{said}");
}

#[test]
fn a_record_replays_with_other_windows() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("trace").display().to_string();
    let (said, code) = json(&["record", "--out", &path, "--behaviour", "low-coarse", "--json"]);
    assert_eq!(code, 0, "{said}");
    let (replayed, _) = json(&["replay", &path, "--scheme", "snp", "--windows", "9", "--json"]);
    let (run, _) = json(&["run", "--scheme", "snp", "--windows", "9", "--behaviour", "low-coarse", "--on", "sim", "--json"]);
    for key in ["switches", "saves", "restores", "overflows", "underflows", "spilled", "restored", "cycles", "worst_switch_cycles"] {
        assert_eq!(replayed[key], run[key], "{key}");
    }
    std::fs::write(&path, "something else").expect("a scratch file");
    let (said, code) = json(&["replay", &path, "--json"]);
    assert_eq!((code, said["ok"].as_bool()), (1, Some(false)));
}

#[test]
fn a_missing_emulator_is_named() {
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile"))
        .args(["regwin", "run", "--scheme", "sp"])
        .env("PATH", "/nowhere")
        .env("MEANWHILE_CACHE", tempfile::tempdir().expect("a scratch folder").path())
        .output()
        .expect("the binary runs");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("sparc64-linux-gnu-gcc") && said.contains("meanwhile doctor"), "{said}");
}
