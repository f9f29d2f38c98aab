//! Studies of regwin: the spell checker in both worlds, its record, and what is refused.

#[path = "../../cli/tests/support/compilers.rs"]
mod compilers;

use std::process::{Command, Output};

use compilers::compiles_as_the_pages;

fn lab(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meanwhile-lab"))
        .arg("run")
        .args(args)
        .output()
        .expect("the binary runs")
}

fn json(args: &[&str]) -> (serde_json::Value, i32) {
    let ran = lab(args);
    let value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| {
        panic!("{args:?}: {error}: {}", String::from_utf8_lossy(&ran.stderr))
    });
    (value, ran.status.code().expect("it was not killed"))
}

#[test]
fn one_run_in_both_worlds() {
    let of = |world| {
        json(&[
            "regwin-spell",
            "--scheme",
            "sp",
            "--windows",
            "7",
            "--behaviour",
            "high-coarse",
            "--on",
            world,
            "--json",
        ])
    };
    let ((mut real, code), (mut sim, _)) = (of("qemu"), of("sim"));
    assert_eq!(code, 0);
    assert_eq!((real["on"].take(), sim["on"].take()), ("qemu".into(), "sim".into()));
    assert_eq!(real, sim);
    let keys = [
        "scheme",
        "windows",
        "behaviour",
        "schedule",
        "allocate",
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
    let parts: u64 = ["application", "traps", "switches"]
        .iter()
        .map(|word| cycles[word].as_u64().expect("a number"))
        .sum();
    assert_eq!(cycles["total"], parts);
}

#[test]
fn a_record_replays_with_other_windows() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("trace").display().to_string();
    let (said, code) =
        json(&["regwin-record", "--out", &path, "--behaviour", "low-coarse", "--json"]);
    assert_eq!(code, 0, "{said}");
    let (replayed, _) =
        json(&["regwin-replay", &path, "--scheme", "snp", "--windows", "9", "--json"]);
    let (run, _) = json(&[
        "regwin-spell",
        "--scheme",
        "snp",
        "--windows",
        "9",
        "--behaviour",
        "low-coarse",
        "--on",
        "sim",
        "--json",
    ]);
    for key in [
        "switches",
        "saves",
        "restores",
        "overflows",
        "underflows",
        "spilled",
        "restored",
        "cycles",
        "worst_switch_cycles",
    ] {
        assert_eq!(replayed[key], run[key], "{key}");
    }
    let (behaviour, _) = json(&["regwin-behaviour", "--trace", &path, "--json"]);
    assert_eq!(
        behaviour["rows"][0]["check"]["switches"].as_u64().map(|number| number > 5000),
        Some(true),
        "{behaviour}"
    );
    std::fs::write(&path, "something else").expect("a scratch file");
    let (said, code) = json(&["regwin-replay", &path, "--json"]);
    assert_eq!((code, said["ok"].as_bool()), (1, Some(false)));
}

#[test]
fn wrong_names_and_numbers_are_refused() {
    let refusals = [
        (vec!["regwin-spell", "--scheme", "sq"], "invalid value 'sq' for '--scheme"),
        (vec!["regwin-spell", "--scheme", "sp", "--windows", "3"], "3 is not in 4..=32"),
        (vec!["regwin-spell", "--scheme", "sp", "--windows", "33"], "33 is not in 4..=32"),
        (
            vec!["regwin-spell", "--scheme", "sp", "--behaviour", "high-fin"],
            "a similar value exists: 'high-fine'",
        ),
        (
            vec!["regwin-spell", "--scheme", "sp", "--machine", "leon4"],
            "a similar value exists: 'leon3'",
        ),
        (
            vec!["regwin-spell", "--scheme", "flat", "--cc", "clang"],
            "clang cannot compile without windows",
        ),
        (
            vec!["regwin-spell", "--scheme", "ns", "--allocate", "lru"],
            "says nothing to the scheme ns",
        ),
        (
            vec!["regwin-spell", "--scheme", "sp", "--allocate", "serach"],
            "a similar value exists: 'search'",
        ),
    ];
    for (args, said) in refusals {
        let ran = lab(&args);
        let text = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{args:?}: {text}");
        assert!(text.contains(said), "{args:?}: {text}");
    }
}

/// An emulator that hangs is ended after a limit, and what was run is said.
#[test]
fn an_emulator_that_does_not_stop_is_ended() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("qemu-system-sparc");
    std::fs::write(&path, "#!/bin/sh\nexec sleep 1000\n").expect("a scratch file");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("it can be run");
    let paths =
        format!("{}:{}", folder.path().display(), std::env::var("PATH").expect("there is a PATH"));
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile-lab"))
        .args(["run", "regwin-spell", "--scheme", "ns"])
        .env("MEANWHILE_QEMU_LIMIT", "1")
        .env("PATH", paths)
        .output()
        .expect("the binary runs");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("qemu-system-sparc") && said.contains("1 s"), "{said}");
}

#[test]
fn a_missing_emulator_is_named() {
    let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile-lab"))
        .args(["run", "regwin-spell", "--scheme", "sp"])
        .env("PATH", "/nowhere")
        .env("MEANWHILE_CACHE", tempfile::tempdir().expect("a scratch folder").path())
        .output()
        .expect("the binary runs");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("sparc64-linux-gnu-gcc") && said.contains("meanwhile doctor"), "{said}");
}

/// The picture shows what the simulator counts.
#[test]
fn the_picture_of_readme_is_that_of_the_program() {
    if !compiles_as_the_pages(regwin::library::GCC, "docs: the picture of README") {
        return;
    }
    let picture = include_str!("../../docs/pictures/regwin-windows.svg");
    for (name, scheme, schedule) in [
        ("ns, fifo", "ns", "fifo"),
        ("adaptive, fifo", "adaptive", "fifo"),
        ("sp, fifo", "sp", "fifo"),
        ("adaptive, working set", "adaptive", "working-set"),
    ] {
        for windows in ["8", "32"] {
            let arguments = [
                "run",
                "regwin-spell",
                "--json",
                "--on",
                "sim",
                "--scheme",
                scheme,
                "--schedule",
                schedule,
                "--windows",
                windows,
            ];
            let ran = Command::new(env!("CARGO_BIN_EXE_meanwhile-lab"))
                .args(arguments)
                .output()
                .expect("the binary runs");
            let value: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("an object");
            let millions = value["cycles"]["total"].as_f64().expect("a number") / 1e6;
            let x = if windows == "8" { "8.00" } else { "32.0" };
            let shown = picture.split_once(&format!("<title>{name}: {x}, ")).expect("a point").1;
            let shown: f64 =
                shown.split('<').next().and_then(|part| part.parse().ok()).expect("a number");
            assert!(
                (shown - millions).abs() < 0.06,
                "{name}, {windows} windows: {shown} in the picture, {millions}"
            );
        }
    }
}
